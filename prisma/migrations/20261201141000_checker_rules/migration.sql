-- Each rule has a test that tries to break it: packages/db/src/rules/checkers.int.test.ts.

-- Forms -------------------------------------------------------------------------------------------------------------

ALTER TABLE "verifiers"
  ADD CONSTRAINT "verifiers_id_form" CHECK (length(id) BETWEEN 1 AND 64),
  ADD CONSTRAINT "verifiers_name_length" CHECK (length(name) BETWEEN 1 AND 200);

ALTER TABLE "verifier_contracts"
  ADD CONSTRAINT "verifier_contracts_id_form" CHECK (length(id) BETWEEN 1 AND 64),
  ADD CONSTRAINT "verifier_contracts_document_length" CHECK (length(document) BETWEEN 2 AND 8000000),
  ADD CONSTRAINT "verifier_contracts_digest_form" CHECK (digest ~ '^sha256:[0-9a-f]{64}$');

ALTER TABLE "implementations"
  ADD CONSTRAINT "implementations_id_form" CHECK (length(id) BETWEEN 1 AND 64),
  ADD CONSTRAINT "implementations_program_form" CHECK (program_digest ~ '^sha256:[0-9a-f]{64}$'),
  ADD CONSTRAINT "implementations_state_known" CHECK (
    state IN ('PENDING', 'CONFORMANT', 'NONCONFORMANT', 'FAILED')
  ),
  ADD CONSTRAINT "implementations_ended" CHECK ((state = 'PENDING') = (ended_at IS NULL)),
  -- Nothing is said to conform, or not to, without the fixtures that say so; and our own trouble is neither.
  ADD CONSTRAINT "implementations_reported" CHECK (
    (state IN ('CONFORMANT', 'NONCONFORMANT')) = (report IS NOT NULL)
    AND (state = 'FAILED') = (problem IS NOT NULL)
  );

ALTER TABLE "review_protocols"
  ADD CONSTRAINT "review_protocols_id_form" CHECK (length(id) BETWEEN 1 AND 64),
  ADD CONSTRAINT "review_protocols_document_length" CHECK (length(document) BETWEEN 2 AND 8000000),
  ADD CONSTRAINT "review_protocols_digest_form" CHECK (digest ~ '^sha256:[0-9a-f]{64}$');

ALTER TABLE "problems"
  ADD CONSTRAINT "problems_id_form" CHECK (length(id) BETWEEN 1 AND 64),
  ADD CONSTRAINT "problems_title_length" CHECK (length(title) BETWEEN 1 AND 200),
  ADD CONSTRAINT "problems_statement_length" CHECK (length(statement) BETWEEN 1 AND 1000000),
  ADD CONSTRAINT "problems_state_known" CHECK (state IN ('DRAFT', 'OPEN', 'CLOSED')),
  -- What decides about a row is said in its facts; what is looked for by, and bound by keys, says the same.
  ADD CONSTRAINT "problems_facts" CHECK (
    jsonb_build_object('id', id, 'ownerId', owner_id, 'contractId', contract_id, 'state', state) <@ facts
  );

ALTER TABLE "entries"
  ADD CONSTRAINT "entries_id_form" CHECK (length(id) BETWEEN 1 AND 64),
  ADD CONSTRAINT "entries_summary_length" CHECK (length(summary_text) <= 1000000);

ALTER TABLE "entry_artifacts"
  ADD CONSTRAINT "entry_artifacts_filename_length" CHECK (length(filename) BETWEEN 1 AND 255),
  ADD CONSTRAINT "entry_artifacts_size_range" CHECK (size_bytes >= 0);

ALTER TABLE "checks"
  ADD CONSTRAINT "checks_id_form" CHECK (length(id) BETWEEN 1 AND 64),
  ADD CONSTRAINT "checks_state_known" CHECK (
    state IN ('WAITING_SANDBOX', 'WAITING_REVIEW', 'WAITING_EXTERNAL', 'HELD', 'VERIFIED', 'REFUTED', 'INCONCLUSIVE')
  ),
  ADD CONSTRAINT "checks_facts" CHECK (
    jsonb_build_object('id', id, 'entryId', entry_id, 'problemId', problem_id, 'state', state) <@ facts
  ),
  ADD CONSTRAINT "checks_ended" CHECK (
    (state IN ('VERIFIED', 'REFUTED', 'INCONCLUSIVE')) = (ended_at IS NOT NULL)
  ),
  -- Nobody is said to have passed without a record of what each stage said.
  ADD CONSTRAINT "checks_recorded" CHECK (evaluation IS NULL OR ended_at IS NOT NULL);

ALTER TABLE "partner_keys"
  ADD CONSTRAINT "partner_keys_fingerprint_form" CHECK (fingerprint ~ '^[0-9a-f]{64}$'),
  ADD CONSTRAINT "partner_keys_system_length" CHECK (length(external_system) BETWEEN 1 AND 200),
  ADD CONSTRAINT "partner_keys_key_length" CHECK (length(public_key) BETWEEN 1 AND 10000);

-- Only one of them --------------------------------------------------------------------------------------------------

-- The same package for the same stage is tried once at a time.
CREATE UNIQUE INDEX "implementations_one_pending" ON "implementations" (contract_id, stage_key, package_sha256)
  WHERE state = 'PENDING';

-- What comes next, and to whom it belongs ---------------------------------------------------------------------------

-- The next version of a family, of its owner: two publications at once are one after the other.
CREATE FUNCTION assert_next_version() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  owner text;
  latest int;
BEGIN
  SELECT owner_id INTO owner FROM verifiers WHERE id = NEW.verifier_id FOR NO KEY UPDATE;
  IF owner IS DISTINCT FROM NEW.created_by_id THEN
    RAISE EXCEPTION 'verifier % is not of %', NEW.verifier_id, NEW.created_by_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'verifier_contracts_own', TABLE = TG_TABLE_NAME;
  END IF;
  SELECT coalesce(max(version_number), 0) INTO latest FROM verifier_contracts WHERE verifier_id = NEW.verifier_id;
  IF NEW.version_number <> latest + 1 THEN
    RAISE EXCEPTION 'version % of % does not follow %', NEW.version_number, NEW.verifier_id, latest
      USING ERRCODE = 'check_violation', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER "verifier_contracts_sequence" BEFORE INSERT ON "verifier_contracts"
  FOR EACH ROW EXECUTE FUNCTION assert_next_version();

-- An implementation is of a sandbox stage of its contract, by whoever owns the family.
CREATE FUNCTION assert_implementation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (
    SELECT FROM verifier_contracts c JOIN verifiers v ON v.id = c.verifier_id,
      jsonb_array_elements(c.document::jsonb -> 'stages') AS stage
    WHERE c.id = NEW.contract_id AND v.owner_id = NEW.published_by_id
      AND stage ->> 'key' = NEW.stage_key AND stage ->> 'kind' = 'sandbox'
  ) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'implementation % is of no sandbox stage of its owner''s contract', NEW.id
    USING ERRCODE = 'check_violation', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME;
END $$;
CREATE TRIGGER "implementations_belong" BEFORE INSERT ON "implementations"
  FOR EACH ROW EXECUTE FUNCTION assert_implementation();
CREATE TRIGGER "implementations_begin_pending" BEFORE INSERT ON "implementations"
  FOR EACH ROW WHEN (NEW.state <> 'PENDING') EXECUTE FUNCTION refuse_change();

-- What was withdrawn before is not offered for new problems.
CREATE FUNCTION assert_not_yanked() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM verifier_contracts WHERE id = NEW.contract_id AND yanked_at IS NULL FOR SHARE;
  IF FOUND THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'the contract of problem % was withdrawn', NEW.id
    USING ERRCODE = 'check_violation', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME;
END $$;
CREATE TRIGGER "problems_not_yanked" BEFORE INSERT ON "problems"
  FOR EACH ROW EXECUTE FUNCTION assert_not_yanked();

-- What a slot is bound to changes in a draft only.
CREATE FUNCTION assert_draft() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE problem text := CASE TG_OP WHEN 'DELETE' THEN OLD.problem_id ELSE NEW.problem_id END;
BEGIN
  IF EXISTS (SELECT FROM problems WHERE id = problem AND state = 'DRAFT') THEN
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
  END IF;
  RAISE EXCEPTION 'problem % is no draft', problem
    USING ERRCODE = 'check_violation', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME;
END $$;
CREATE TRIGGER "problem_inputs_draft" BEFORE INSERT OR UPDATE OR DELETE ON "problem_inputs"
  FOR EACH ROW EXECUTE FUNCTION assert_draft();

-- Only an open problem takes entries.
CREATE FUNCTION assert_open() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM problems WHERE id = NEW.problem_id AND state = 'OPEN' FOR SHARE;
  IF FOUND THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'problem % is not open', NEW.problem_id
    USING ERRCODE = 'check_violation', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME;
END $$;
CREATE TRIGGER "entries_open" BEFORE INSERT ON "entries"
  FOR EACH ROW EXECUTE FUNCTION assert_open();

-- An entry is whole with its artifacts: later transactions add none.
CREATE FUNCTION assert_entry_new() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM entries WHERE id = NEW.entry_id AND xmin = pg_current_xact_id()::xid) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'entry % is complete or unknown', NEW.entry_id
    USING ERRCODE = 'check_violation', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME;
END $$;
CREATE TRIGGER "entry_artifacts_late" BEFORE INSERT ON "entry_artifacts"
  FOR EACH ROW EXECUTE FUNCTION assert_entry_new();

-- States ------------------------------------------------------------------------------------------------------------

-- What one try came to stays. A try that our own trouble ended may be made again.
CREATE TRIGGER "implementations_moves" BEFORE UPDATE ON "implementations"
  FOR EACH ROW WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION refuse_unknown_move(
    'PENDING>CONFORMANT', 'PENDING>NONCONFORMANT', 'PENDING>FAILED', 'FAILED>PENDING'
  );

-- What is frozen ----------------------------------------------------------------------------------------------------

CREATE TRIGGER "verifiers_frozen" BEFORE UPDATE ON "verifiers"
  FOR EACH ROW WHEN (OLD IS DISTINCT FROM NEW) EXECUTE FUNCTION refuse_change();

CREATE TRIGGER "verifier_contracts_frozen" BEFORE UPDATE ON "verifier_contracts"
  FOR EACH ROW WHEN (
    (OLD.id, OLD.seq, OLD.verifier_id, OLD.version_number, OLD.created_by_id, OLD.document, OLD.digest, OLD.created_at)
      IS DISTINCT FROM
      (NEW.id, NEW.seq, NEW.verifier_id, NEW.version_number, NEW.created_by_id, NEW.document, NEW.digest, NEW.created_at)
    OR OLD.yanked_at IS NOT NULL AND OLD.yanked_at IS DISTINCT FROM NEW.yanked_at
  ) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "verifier_contracts_kept" BEFORE DELETE OR TRUNCATE ON "verifier_contracts"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER "implementations_frozen" BEFORE UPDATE ON "implementations"
  FOR EACH ROW WHEN (
    (OLD.id, OLD.seq, OLD.contract_id, OLD.stage_key, OLD.published_by_id, OLD.package_sha256, OLD.program_digest,
      OLD.created_at)
      IS DISTINCT FROM
      (NEW.id, NEW.seq, NEW.contract_id, NEW.stage_key, NEW.published_by_id, NEW.package_sha256, NEW.program_digest,
        NEW.created_at)
    OR OLD.report IS NOT NULL AND OLD.report IS DISTINCT FROM NEW.report
  ) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "implementations_kept" BEFORE DELETE OR TRUNCATE ON "implementations"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER "review_protocols_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "review_protocols"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "entries_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "entries"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "entry_artifacts_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "entry_artifacts"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER "problems_frozen" BEFORE UPDATE ON "problems"
  FOR EACH ROW WHEN (
    (OLD.id, OLD.seq, OLD.owner_id, OLD.contract_id, OLD.title, OLD.statement, OLD.created_at)
      IS DISTINCT FROM
      (NEW.id, NEW.seq, NEW.owner_id, NEW.contract_id, NEW.title, NEW.statement, NEW.created_at)
    -- Nothing of what solvers began to work on changes; an early release is one, once.
    OR OLD.state <> 'DRAFT' AND (
      (OLD.facts -> 'slots', OLD.facts -> 'bindings', OLD.facts -> 'sealing', OLD.facts -> 'invited')
        IS DISTINCT FROM
        (NEW.facts -> 'slots', NEW.facts -> 'bindings', NEW.facts -> 'sealing', NEW.facts -> 'invited')
      OR NEW.state = 'DRAFT' OR OLD.state = 'CLOSED' AND NEW.state <> 'CLOSED'
    )
    OR OLD.facts ->> 'releasedAt' IS NOT NULL AND OLD.facts -> 'releasedAt' IS DISTINCT FROM NEW.facts -> 'releasedAt'
  ) EXECUTE FUNCTION refuse_change();

CREATE TRIGGER "checks_frozen" BEFORE UPDATE ON "checks"
  FOR EACH ROW WHEN (
    (OLD.id, OLD.seq, OLD.entry_id, OLD.problem_id, OLD.created_at)
      IS DISTINCT FROM (NEW.id, NEW.seq, NEW.entry_id, NEW.problem_id, NEW.created_at)
    -- An end is one.
    OR OLD.ended_at IS NOT NULL
      AND (OLD.state, OLD.facts, OLD.ended_at) IS DISTINCT FROM (NEW.state, NEW.facts, NEW.ended_at)
    OR OLD.evaluation IS NOT NULL AND OLD.evaluation IS DISTINCT FROM NEW.evaluation
    OR OLD.attestation IS NOT NULL AND OLD.attestation IS DISTINCT FROM NEW.attestation
  ) EXECUTE FUNCTION refuse_change();

-- A decision is stored over the facts that it was made of: whoever read older ones comes too late.
CREATE TRIGGER "problems_versions" BEFORE UPDATE ON "problems"
  FOR EACH ROW WHEN (NEW.version <> OLD.version + (OLD.facts IS DISTINCT FROM NEW.facts)::int)
  EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "checks_versions" BEFORE UPDATE ON "checks"
  FOR EACH ROW WHEN (NEW.version <> OLD.version + (OLD.facts IS DISTINCT FROM NEW.facts)::int)
  EXECUTE FUNCTION refuse_change();

CREATE TRIGGER "partner_keys_frozen" BEFORE UPDATE ON "partner_keys"
  FOR EACH ROW WHEN (
    (OLD.fingerprint, OLD.external_system, OLD.public_key, OLD.created_at)
      IS DISTINCT FROM (NEW.fingerprint, NEW.external_system, NEW.public_key, NEW.created_at)
    OR OLD.retired_at IS NOT NULL AND OLD.retired_at IS DISTINCT FROM NEW.retired_at
  ) EXECUTE FUNCTION refuse_change();
