-- CreateTable
CREATE TABLE "audit_log" (
    "seq" BIGINT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "kind" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "digest" TEXT,
    "facts" JSONB NOT NULL,
    "salt" TEXT NOT NULL,
    "prev_hash" TEXT NOT NULL,
    "hash" TEXT NOT NULL,

    CONSTRAINT "audit_log_pkey" PRIMARY KEY ("seq")
);

-- CreateTable
CREATE TABLE "audit_head" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "seq" BIGINT NOT NULL,
    "hash" TEXT NOT NULL,

    CONSTRAINT "audit_head_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "signing_keys" (
    "keyid" TEXT NOT NULL,
    "seq" BIGSERIAL NOT NULL,
    "public_key" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "retired_at" TIMESTAMPTZ(3),

    CONSTRAINT "signing_keys_pkey" PRIMARY KEY ("keyid")
);

-- CreateTable
CREATE TABLE "run_evidence" (
    "run_id" TEXT NOT NULL,
    "audit_seq" BIGINT NOT NULL,
    "keyid" TEXT NOT NULL,
    "evaluation" TEXT NOT NULL,
    "public_evaluation" TEXT NOT NULL,
    "attestation" TEXT NOT NULL,
    "public_attestation" TEXT NOT NULL,
    "manifest" TEXT NOT NULL,
    "public_manifest" TEXT NOT NULL,
    "request" TEXT NOT NULL,
    "public_result" TEXT NOT NULL,
    "public_contract_blob" TEXT NOT NULL,

    CONSTRAINT "run_evidence_pkey" PRIMARY KEY ("run_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "audit_log_prev_hash_key" ON "audit_log"("prev_hash");

-- CreateIndex
CREATE UNIQUE INDEX "audit_log_hash_key" ON "audit_log"("hash");

-- CreateIndex
CREATE INDEX "audit_log_subject_idx" ON "audit_log"("subject");

-- CreateIndex
CREATE UNIQUE INDEX "signing_keys_seq_key" ON "signing_keys"("seq");

-- CreateIndex
CREATE UNIQUE INDEX "run_evidence_audit_seq_key" ON "run_evidence"("audit_seq");

-- CreateIndex
CREATE INDEX "run_evidence_public_contract_blob_idx" ON "run_evidence"("public_contract_blob");

-- AddForeignKey
ALTER TABLE "run_evidence" ADD CONSTRAINT "run_evidence_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "run_evidence" ADD CONSTRAINT "run_evidence_audit_seq_fkey" FOREIGN KEY ("audit_seq") REFERENCES "audit_log"("seq") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "run_evidence" ADD CONSTRAINT "run_evidence_keyid_fkey" FOREIGN KEY ("keyid") REFERENCES "signing_keys"("keyid") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "run_evidence" ADD CONSTRAINT "run_evidence_public_contract_blob_fkey" FOREIGN KEY ("public_contract_blob") REFERENCES "blobs"("sha256") ON DELETE RESTRICT ON UPDATE CASCADE;

-- What Prisma's language can't say. Each rule has a test that tries to break it: packages/db/src/rules/.

ALTER TABLE "audit_log"
  ADD CONSTRAINT "audit_log_kind_known" CHECK (
    kind IN ('contract_proved', 'verdict_sealed', 'challenge_resolved', 'escrow_resolved', 'key_added',
      'key_retired', 'checker_published', 'checker_conformant')
  ),
  ADD CONSTRAINT "audit_log_subject_length" CHECK (length(subject) BETWEEN 1 AND 128),
  ADD CONSTRAINT "audit_log_digest_form" CHECK (digest ~ '^sha256:[0-9a-f]{64}$'),
  ADD CONSTRAINT "audit_log_facts_form" CHECK (jsonb_typeof(facts) = 'object'),
  ADD CONSTRAINT "audit_log_hashes_form" CHECK (
    salt ~ '^[0-9a-f]{32}$' AND prev_hash ~ '^[0-9a-f]{64}$' AND hash ~ '^[0-9a-f]{64}$'
  );

ALTER TABLE "audit_head"
  ADD CONSTRAINT "audit_head_single" CHECK (id = 1),
  ADD CONSTRAINT "audit_head_hash_form" CHECK (hash ~ '^[0-9a-f]{64}$');

ALTER TABLE "signing_keys"
  ADD CONSTRAINT "signing_keys_keyid_form" CHECK (keyid ~ '^[0-9a-f]{64}$'),
  -- Ed25519; nobody is to put a private half here.
  ADD CONSTRAINT "signing_keys_public_form" CHECK (
    public_key ~ '^-----BEGIN PUBLIC KEY-----\n[A-Za-z0-9+/=]{60}\n-----END PUBLIC KEY-----\n$'
  ),
  ADD CONSTRAINT "signing_keys_life_order" CHECK (retired_at >= created_at);

-- The audit log ------------------------------------------------------------------------------------------------------

INSERT INTO "audit_head" (id, seq, hash) VALUES (1, 0, repeat('0', 64));

CREATE TRIGGER "audit_head_kept" BEFORE DELETE OR TRUNCATE ON "audit_head"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "audit_head_moves" BEFORE UPDATE ON "audit_head"
  FOR EACH ROW WHEN (pg_trigger_depth() = 0 AND OLD IS DISTINCT FROM NEW)
  EXECUTE FUNCTION refuse_change();

-- An entry is the next link or none, and moves the head.
CREATE FUNCTION extend_audit() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE head audit_head;
BEGIN
  SELECT * INTO STRICT head FROM audit_head WHERE id = 1 FOR UPDATE;
  IF NEW.seq <> head.seq + 1 OR NEW.prev_hash <> head.hash THEN
    RAISE EXCEPTION 'entry % does not follow number %', NEW.seq, head.seq
      USING ERRCODE = 'check_violation', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME;
  END IF;
  UPDATE audit_head SET seq = NEW.seq, hash = NEW.hash WHERE id = 1;
  RETURN NEW;
END $$;
CREATE TRIGGER "audit_log_chain" BEFORE INSERT ON "audit_log"
  FOR EACH ROW EXECUTE FUNCTION extend_audit();
CREATE TRIGGER "audit_log_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "audit_log"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Keys ---------------------------------------------------------------------------------------------------------------

CREATE TRIGGER "signing_keys_frozen" BEFORE UPDATE ON "signing_keys"
  FOR EACH ROW WHEN (
    (OLD.keyid, OLD.seq, OLD.public_key, OLD.created_at)
      IS DISTINCT FROM (NEW.keyid, NEW.seq, NEW.public_key, NEW.created_at)
    OR OLD.retired_at IS NOT NULL AND OLD.retired_at IS DISTINCT FROM NEW.retired_at
  ) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "signing_keys_kept" BEFORE DELETE OR TRUNCATE ON "signing_keys"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Evidence -----------------------------------------------------------------------------------------------------------

CREATE TRIGGER "run_evidence_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "run_evidence"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE FUNCTION digest_of(content text) RETURNS text LANGUAGE sql IMMUTABLE
  RETURN 'sha256:' || encode(sha256(convert_to(content, 'UTF8')), 'hex');

-- Signed with a key in use, about the result that was sealed, and named in the audit log to the byte.
CREATE FUNCTION assert_evidence() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Shared until the commit: nobody retires the key meanwhile.
  PERFORM FROM signing_keys WHERE keyid = NEW.keyid AND retired_at IS NULL FOR SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'run % is signed with a key that is retired or unknown', NEW.run_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'run_evidence_key_in_use', TABLE = TG_TABLE_NAME;
  END IF;
  IF NOT EXISTS (
    SELECT FROM runs
    WHERE id = NEW.run_id AND state = 'SEALED' AND result_digest = digest_of(result)
  ) THEN
    RAISE EXCEPTION 'the result of run % is not the one that was sealed', NEW.run_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'run_evidence_of_result', TABLE = TG_TABLE_NAME;
  END IF;
  IF NOT EXISTS (
    SELECT FROM audit_log
    WHERE seq = NEW.audit_seq AND kind = 'verdict_sealed' AND subject = NEW.run_id
      AND digest = (SELECT result_digest FROM runs WHERE id = NEW.run_id)
      AND facts @> jsonb_build_object(
        'evaluation', digest_of(NEW.evaluation),
        'publicEvaluation', digest_of(NEW.public_evaluation),
        'attestation', digest_of(NEW.attestation),
        'publicAttestation', digest_of(NEW.public_attestation)
      )
  ) THEN
    RAISE EXCEPTION 'the evidence of run % is not in the audit log', NEW.run_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'run_evidence_audited', TABLE = TG_TABLE_NAME;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER "run_evidence_belongs" BEFORE INSERT ON "run_evidence"
  FOR EACH ROW EXECUTE FUNCTION assert_evidence();

-- No result is kept without evidence. Those of before this migration have none.
CREATE FUNCTION assert_has_evidence() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM run_evidence WHERE run_id = NEW.id) THEN
    RETURN NULL;
  END IF;
  RAISE EXCEPTION 'run % has a result without evidence', NEW.id
    USING ERRCODE = 'check_violation', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME;
END $$;
CREATE CONSTRAINT TRIGGER "runs_with_evidence" AFTER INSERT OR UPDATE OF result ON "runs"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.result IS NOT NULL)
  EXECUTE FUNCTION assert_has_evidence();
