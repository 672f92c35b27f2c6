-- The same draft of the same requester is one contract, until it has ended.
CREATE UNIQUE INDEX "contracts_requester_draft_key" ON "contracts" ("requester_id", "draft_digest")
  WHERE "state" NOT IN ('SETTLED', 'EXPIRED', 'CANCELLED');

-- One commit of one solver is one submission, unless its source could not be had: then it may come again.
CREATE UNIQUE INDEX "submissions_commit_key" ON "submissions" ("contract_id", "solver_id", "commit")
  WHERE "reason" IS NULL OR "reason" NOT IN ('REPOSITORY_UNREACHABLE', 'COMMIT_NOT_FOUND', 'ANCESTRY_UNKNOWN');

-- A submit does not touch its contract's row, so the end of its grace is found here and not in contracts.next_due_at.
CREATE INDEX "submissions_capture_by_idx" ON "submissions" ("capture_by") WHERE "state" = 'RECEIVED';

-- The `submit` command in one round trip (ADR 0016): the same rules in the same order as `submit` in
-- packages/settlement/src/commands/capture.ts, which one table of tests holds both to. Answers what became of it:
-- ACCEPTED, REPEATED (the key was used for the same request), or the code of the refusal with its facts.
--
-- The key comes first: an equal request waits here for this one. Then the contract's lock, shared with other submits;
-- each statement after it sees what its last owner committed, and the time is read after it was had.
CREATE FUNCTION "submit_commit"(
  p_id text,
  p_contract_id text,
  p_solver_id text,
  p_repository_url text,
  p_commit text,
  p_key text,
  p_input_hash text,
  p_capture_grace_ms bigint,
  p_line_max bigint,
  p_solver_line_max bigint
) RETURNS TABLE (outcome text, submission_id text, seq bigint, received_at timestamptz, facts jsonb)
LANGUAGE plpgsql ROWS 1 AS $$
DECLARE
  terms record;
  kept record;
  line record;
BEGIN
  IF p_key IS NOT NULL THEN
    INSERT INTO idempotency_keys (principal_id, key, input_hash, status, body)
    VALUES (p_solver_id, p_key, p_input_hash, 201, p_id)
    ON CONFLICT (principal_id, key) DO NOTHING;
    IF NOT FOUND THEN
      SELECT k.input_hash, s.id, s.seq, s.received_at INTO kept
      FROM idempotency_keys k LEFT JOIN submissions s ON s.id = k.body
      WHERE k.principal_id = p_solver_id AND k.key = p_key;
      submission_id := kept.id;
      seq := kept.seq;
      received_at := kept.received_at;
      outcome := CASE WHEN kept.input_hash = p_input_hash AND kept.id IS NOT NULL
        THEN 'REPEATED' ELSE 'DB_IDEMPOTENCY_CONFLICT' END;
      RETURN NEXT;
      RETURN;
    END IF;
  END IF;

  SELECT c.state, c.closes_at, c.requester_id, c.invite_only, c.invited_ids INTO terms
  FROM contracts c WHERE c.id = p_contract_id FOR SHARE;
  received_at := date_trunc('milliseconds', clock_timestamp());
  IF terms IS NULL OR terms.state IS NULL THEN
    outcome := 'SETTLEMENT_CONTRACT_UNKNOWN';
  ELSIF terms.state NOT IN ('OPEN', 'IN_CHALLENGE') THEN
    outcome := 'SETTLEMENT_CONTRACT_STATE_REFUSED';
    facts := jsonb_build_object('state', terms.state);
  ELSIF received_at >= terms.closes_at THEN
    outcome := 'SETTLEMENT_CONTRACT_CLOSED';
    facts := jsonb_build_object('closesAt', terms.closes_at);
  ELSIF p_solver_id = terms.requester_id THEN
    outcome := 'SETTLEMENT_OWN_CONTRACT';
  ELSIF terms.invite_only AND NOT p_solver_id = ANY (terms.invited_ids) THEN
    outcome := 'DB_SOLVER_NOT_INVITED';
  ELSE
    SELECT count(*) AS all_of_it, count(*) FILTER (WHERE s.solver_id = p_solver_id) AS own INTO line
    FROM submissions s
    WHERE s.contract_id = p_contract_id
      AND s.state IN ('RECEIVED', 'QUEUED', 'RUNNING', 'VERIFIED', 'HELD', 'DEFERRED');
    IF line.all_of_it >= p_line_max THEN
      outcome := 'SETTLEMENT_LINE_FULL';
      facts := jsonb_build_object('count', line.all_of_it);
    ELSIF line.own >= p_solver_line_max THEN
      outcome := 'SETTLEMENT_SOLVER_LINE_FULL';
      facts := jsonb_build_object('count', line.own);
    END IF;
  END IF;

  IF outcome IS NULL THEN
    INSERT INTO submissions AS s (id, contract_id, solver_id, repository_url, commit, received_at, capture_by)
    VALUES (p_id, p_contract_id, p_solver_id, p_repository_url, p_commit, received_at,
      received_at + p_capture_grace_ms * interval '1 millisecond')
    ON CONFLICT (contract_id, solver_id, commit)
      WHERE reason IS NULL OR reason NOT IN ('REPOSITORY_UNREACHABLE', 'COMMIT_NOT_FOUND', 'ANCESTRY_UNKNOWN')
      DO NOTHING
    RETURNING s.id, s.seq INTO submission_id, seq;
    IF NOT FOUND THEN
      outcome := 'DB_SUBMISSION_DUPLICATE';
      SELECT s.id INTO submission_id FROM submissions s
      WHERE s.contract_id = p_contract_id AND s.solver_id = p_solver_id AND s.commit = p_commit
      ORDER BY s.seq DESC LIMIT 1;
    END IF;
  END IF;

  IF outcome IS NULL THEN
    outcome := 'ACCEPTED';
    INSERT INTO events (xid, name, actor_id, contract_id, submission_id, audience, data)
    VALUES (pg_current_xact_id()::text::bigint, 'submission_received', p_solver_id, p_contract_id, p_id, 'PARTIES', '{}');
  ELSIF p_key IS NOT NULL THEN
    -- A refusal is not kept: the next request may find things otherwise.
    DELETE FROM idempotency_keys k WHERE k.principal_id = p_solver_id AND k.key = p_key;
  END IF;
  RETURN NEXT;
END
$$;
