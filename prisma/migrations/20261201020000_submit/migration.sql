-- The same draft of the same requester is one contract, until it has ended.
CREATE UNIQUE INDEX "contracts_requester_draft_key" ON "contracts" ("requester_id", "draft_digest")
  WHERE "state" NOT IN ('SETTLED', 'EXPIRED', 'CANCELLED');

-- One commit of one solver is one submission, unless its source could not be had: then it may come again.
CREATE UNIQUE INDEX "submissions_commit_key" ON "submissions" ("contract_id", "solver_id", "commit")
  WHERE "reason" IS NULL OR "reason" NOT IN ('REPOSITORY_UNREACHABLE', 'COMMIT_NOT_FOUND', 'ANCESTRY_UNKNOWN');
