-- DropIndex
DROP INDEX "partner_keys_external_system_idx";

-- CreateIndex
CREATE INDEX "problems_owner_id_idx" ON "problems"("owner_id");

-- CreateIndex
CREATE INDEX "problems_contract_id_idx" ON "problems"("contract_id");

-- CreateIndex
CREATE INDEX "checks_problem_id_seq_idx" ON "checks"("problem_id", "seq");

-- Those whose record has yet to be written: few among many, and looked for again and again.
CREATE INDEX "checks_unrecorded" ON "checks" (id) WHERE ended_at IS NOT NULL AND evaluation IS NULL;

-- A record of a check is named in the audit log, as a verdict is.
ALTER TABLE "audit_log"
  DROP CONSTRAINT "audit_log_kind_known",
  ADD CONSTRAINT "audit_log_kind_known" CHECK (
    kind IN ('contract_proved', 'verdict_sealed', 'challenge_resolved', 'escrow_resolved', 'key_added',
      'key_retired', 'checker_published', 'checker_conformant', 'check_recorded')
  );
