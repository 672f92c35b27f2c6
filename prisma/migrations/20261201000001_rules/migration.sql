-- What Prisma's language can't say. Each rule has a test that tries to break it: packages/db/src/rules/.
-- Rules made by hand refuse with check_violation and a name in the constraint field, as CHECK does.

-- Forms -------------------------------------------------------------------------------------------------------------

ALTER TABLE "principals"
  ADD CONSTRAINT "principals_id_form" CHECK (length(id) BETWEEN 1 AND 64),
  ADD CONSTRAINT "principals_name_length" CHECK (length(name) BETWEEN 1 AND 200),
  ADD CONSTRAINT "principals_roles_known" CHECK (
    cardinality(roles) > 0
    AND roles <@ ARRAY['requester', 'solver', 'challenger', 'arbiter', 'operator']
  );

ALTER TABLE "api_keys"
  ADD CONSTRAINT "api_keys_id_form" CHECK (length(id) BETWEEN 1 AND 64),
  ADD CONSTRAINT "api_keys_hash_form" CHECK (hash ~ '^[0-9a-f]{64}$'),
  ADD CONSTRAINT "api_keys_label_length" CHECK (length(label) <= 200);

ALTER TABLE "idempotency_keys"
  ADD CONSTRAINT "idempotency_keys_key_length" CHECK (length(key) BETWEEN 1 AND 255),
  ADD CONSTRAINT "idempotency_keys_input_form" CHECK (input_hash ~ '^[0-9a-f]{64}$'),
  ADD CONSTRAINT "idempotency_keys_status_known" CHECK (status BETWEEN 200 AND 599);

ALTER TABLE "blobs"
  ADD CONSTRAINT "blobs_sha256_form" CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  ADD CONSTRAINT "blobs_complete" CHECK ((sha256 IS NULL) = (size_bytes IS NULL)),
  ADD CONSTRAINT "blobs_size_range" CHECK (size_bytes >= 0);

ALTER TABLE "blob_chunks"
  ADD CONSTRAINT "blob_chunks_index_range" CHECK (index >= 0),
  ADD CONSTRAINT "blob_chunks_size_range" CHECK (octet_length(bytes) BETWEEN 1 AND 16777216);

ALTER TABLE "packages"
  ADD CONSTRAINT "packages_counts_range" CHECK (entry_count >= 0 AND size_bytes >= 0);

ALTER TABLE "contracts"
  ADD CONSTRAINT "contracts_id_form" CHECK (length(id) BETWEEN 1 AND 64),
  ADD CONSTRAINT "contracts_state_known" CHECK (
    state IN ('DRAFT', 'PROVED', 'OPEN', 'IN_CHALLENGE', 'SETTLED', 'EXPIRED', 'CANCELLED')
  ),
  ADD CONSTRAINT "contracts_approval_state_known" CHECK (
    approval_state IN ('NONE', 'QUEUED', 'RUNNING', 'REFUSED', 'FAILED', 'DONE')
  ),
  ADD CONSTRAINT "contracts_document_length" CHECK (length(document) BETWEEN 2 AND 8000000),
  ADD CONSTRAINT "contracts_digest_form" CHECK (digest ~ '^sha256:[0-9a-f]{64}$'),
  ADD CONSTRAINT "contracts_draft_digest_form" CHECK (draft_digest ~ '^sha256:[0-9a-f]{64}$'),
  ADD CONSTRAINT "contracts_title_length" CHECK (length(title) BETWEEN 1 AND 200),
  ADD CONSTRAINT "contracts_kind_length" CHECK (length(contract_kind) BETWEEN 1 AND 64),
  ADD CONSTRAINT "contracts_url_length" CHECK (length(repository_url) BETWEEN 1 AND 2048),
  ADD CONSTRAINT "contracts_base_form" CHECK (base_commit ~ '^[0-9a-f]{40}$'),
  ADD CONSTRAINT "contracts_currency_form" CHECK (currency ~ '^[A-Z][A-Z0-9]{2,9}$'),
  ADD CONSTRAINT "contracts_reward_range" CHECK (reward_minor > 0),
  ADD CONSTRAINT "contracts_fee_range" CHECK (fee_bps BETWEEN 0 AND 10000),
  ADD CONSTRAINT "contracts_windows_range" CHECK (window_seconds > 0 AND response_seconds > 0),
  ADD CONSTRAINT "contracts_bond_range" CHECK (bond_minor > 0),
  ADD CONSTRAINT "contracts_invited_length" CHECK (cardinality(invited_ids) <= 1000),
  ADD CONSTRAINT "contracts_ended" CHECK (
    (state IN ('SETTLED', 'EXPIRED', 'CANCELLED')) = (ended_at IS NOT NULL)
  );

ALTER TABLE "claim_tokens"
  ADD CONSTRAINT "claim_tokens_token_length" CHECK (length(token) BETWEEN 16 AND 200);

ALTER TABLE "submissions"
  ADD CONSTRAINT "submissions_id_form" CHECK (length(id) BETWEEN 1 AND 64),
  ADD CONSTRAINT "submissions_state_known" CHECK (
    state IN ('RECEIVED', 'QUEUED', 'RUNNING', 'VERIFIED', 'HELD', 'PASSED', 'DEFERRED', 'FAILED',
      'INCONCLUSIVE', 'OVERTURNED', 'PAID', 'SUPERSEDED')
  ),
  ADD CONSTRAINT "submissions_url_length" CHECK (length(repository_url) BETWEEN 1 AND 2048),
  -- Lower case: git takes either, and one commit must not have two names.
  ADD CONSTRAINT "submissions_commit_form" CHECK (commit ~ '^[0-9a-f]{40}$'),
  ADD CONSTRAINT "submissions_tree_form" CHECK (tree ~ '^[0-9a-f]{40}$'),
  ADD CONSTRAINT "submissions_verdict_known" CHECK (verdict IN ('PASS', 'FAIL', 'INCONCLUSIVE')),
  ADD CONSTRAINT "submissions_verdict_whole" CHECK (
    (verdict IS NULL) = (result_digest IS NULL)
    AND (reason IS NULL) = (coalesce(verdict, 'PASS') = 'PASS')
  ),
  ADD CONSTRAINT "submissions_reason_form" CHECK (reason ~ '^[A-Z][A-Z_]{1,63}$'),
  ADD CONSTRAINT "submissions_result_form" CHECK (result_digest ~ '^sha256:[0-9a-f]{64}$'),
  ADD CONSTRAINT "submissions_window_whole" CHECK (
    (window_opens_at IS NULL) = (window_closes_at IS NULL) AND window_closes_at > window_opens_at
  ),
  -- Nobody but a PASS with a window holds the prize or gets it.
  ADD CONSTRAINT "submissions_pass_only" CHECK (
    state NOT IN ('PASSED', 'PAID')
    OR (verdict IS NOT DISTINCT FROM 'PASS' AND window_closes_at IS NOT NULL)
  );

ALTER TABLE "runs"
  ADD CONSTRAINT "runs_id_form" CHECK (length(id) BETWEEN 1 AND 64),
  ADD CONSTRAINT "runs_purpose_known" CHECK (purpose IN ('VERIFY', 'RERUN')),
  ADD CONSTRAINT "runs_state_known" CHECK (
    state IN ('QUEUED', 'RUNNING', 'SEALED', 'ABANDONED', 'HELD')
  ),
  ADD CONSTRAINT "runs_counts_range" CHECK (attempt >= 0 AND tries BETWEEN 0 AND attempt),
  ADD CONSTRAINT "runs_verdict_known" CHECK (verdict IN ('PASS', 'FAIL', 'INCONCLUSIVE')),
  ADD CONSTRAINT "runs_verdict_whole" CHECK (
    (verdict IS NULL) = (result_digest IS NULL)
    AND (verdict IS NULL OR (verdict = 'PASS') = (reason IS NULL))
  ),
  ADD CONSTRAINT "runs_sealed" CHECK ((state = 'SEALED') = (verdict IS NOT NULL)),
  ADD CONSTRAINT "runs_reason_form" CHECK (reason ~ '^[A-Z][A-Z_]{1,63}$'),
  ADD CONSTRAINT "runs_result_form" CHECK (result_digest ~ '^sha256:[0-9a-f]{64}$');

ALTER TABLE "attempts"
  ADD CONSTRAINT "attempts_number_range" CHECK (number > 0),
  ADD CONSTRAINT "attempts_outcome_known" CHECK (outcome IN ('sealed', 'failed', 'released', 'lost')),
  ADD CONSTRAINT "attempts_ended" CHECK ((outcome IS NULL) = (finished_at IS NULL));

ALTER TABLE "criterion_results"
  ADD CONSTRAINT "criterion_results_visibility_known" CHECK (visibility IN ('public', 'hidden')),
  ADD CONSTRAINT "criterion_results_output_form" CHECK (output_sha256 ~ '^(sha256:)?[0-9a-f]{64}$'),
  ADD CONSTRAINT "criterion_results_counts_range" CHECK (
    position >= 0 AND peak_memory_bytes >= 0 AND duration_ms >= 0
  );

ALTER TABLE "challenges"
  ADD CONSTRAINT "challenges_id_form" CHECK (length(id) BETWEEN 1 AND 64),
  ADD CONSTRAINT "challenges_kind_known" CHECK (
    kind IN ('OVERTURN_PASS', 'RERUN_VERIFICATION', 'UPHOLD_PASS')
  ),
  ADD CONSTRAINT "challenges_state_known" CHECK (
    state IN ('RERUNNING', 'AWAITING_ARBITER', 'NOTED', 'UPHELD', 'OVERTURNED', 'LAPSED', 'VOIDED')
  ),
  -- An answer asks for nothing, so it costs nothing and stays as it is.
  ADD CONSTRAINT "challenges_answer" CHECK (
    (kind = 'UPHOLD_PASS') = (state = 'NOTED') AND (kind = 'UPHOLD_PASS') = (bond_minor = 0)
  ),
  ADD CONSTRAINT "challenges_bond_range" CHECK (bond_minor >= 0),
  ADD CONSTRAINT "challenges_evidence_length" CHECK (length(evidence) <= 100000),
  ADD CONSTRAINT "challenges_deadlines_order" CHECK (decide_by >= respond_by);

ALTER TABLE "resolutions"
  ADD CONSTRAINT "resolutions_number_range" CHECK (number BETWEEN 1 AND 2),
  ADD CONSTRAINT "resolutions_decision_known" CHECK (
    decision IN ('OVERTURN_PASS', 'RERUN_VERIFICATION', 'UPHOLD_PASS')
  ),
  ADD CONSTRAINT "resolutions_statement_length" CHECK (length(statement) <= 100000);

ALTER TABLE "escrow_resolutions"
  ADD CONSTRAINT "escrow_resolutions_known" CHECK (resolution IN ('PAYOUT', 'REFUND'));

ALTER TABLE "ledger_accounts"
  ADD CONSTRAINT "ledger_accounts_name_length" CHECK (length(name) BETWEEN 1 AND 200),
  ADD CONSTRAINT "ledger_accounts_currency_form" CHECK (currency ~ '^[A-Z][A-Z0-9]{2,9}$'),
  ADD CONSTRAINT "ledger_accounts_no_overdraft" CHECK (may_overdraw OR balance_minor >= 0),
  ADD CONSTRAINT "ledger_accounts_bottom" CHECK (may_overdraw = (name LIKE 'outside/%'));

ALTER TABLE "ledger_transfers"
  ADD CONSTRAINT "ledger_transfers_id_form" CHECK (length(id) BETWEEN 1 AND 64),
  ADD CONSTRAINT "ledger_transfers_kind_known" CHECK (
    kind IN ('deposit', 'escrow_funded', 'escrow_refunded', 'payout', 'payout_confirmed',
      'bond_posted', 'bond_returned', 'bond_forfeited')
  ),
  ADD CONSTRAINT "ledger_transfers_key_length" CHECK (length(idempotency_key) BETWEEN 1 AND 512),
  ADD CONSTRAINT "ledger_transfers_currency_form" CHECK (currency ~ '^[A-Z][A-Z0-9]{2,9}$'),
  ADD CONSTRAINT "ledger_transfers_hashes_form" CHECK (
    input_hash ~ '^[0-9a-f]{64}$' AND prev_hash ~ '^[0-9a-f]{64}$' AND hash ~ '^[0-9a-f]{64}$'
  );

ALTER TABLE "ledger_postings"
  ADD CONSTRAINT "ledger_postings_amount_range" CHECK (amount_minor > 0),
  ADD CONSTRAINT "ledger_postings_index_range" CHECK (index >= 0),
  ADD CONSTRAINT "ledger_postings_two_accounts" CHECK (source <> destination);

ALTER TABLE "ledger_head"
  ADD CONSTRAINT "ledger_head_single" CHECK (id = 1),
  ADD CONSTRAINT "ledger_head_hash_form" CHECK (hash ~ '^[0-9a-f]{64}$');

ALTER TABLE "payouts"
  ADD CONSTRAINT "payouts_id_form" CHECK (length(id) BETWEEN 1 AND 64),
  ADD CONSTRAINT "payouts_state_known" CHECK (state IN ('DUE', 'CONFIRMED', 'HELD')),
  ADD CONSTRAINT "payouts_amount_range" CHECK (amount_minor > 0),
  ADD CONSTRAINT "payouts_tries_range" CHECK (tries >= 0),
  ADD CONSTRAINT "payouts_confirmed" CHECK ((state = 'CONFIRMED') = (confirmed_at IS NOT NULL));

ALTER TABLE "events"
  ADD CONSTRAINT "events_name_length" CHECK (length(name) BETWEEN 1 AND 64),
  ADD CONSTRAINT "events_audience_known" CHECK (audience IN ('PUBLIC', 'PARTIES', 'OWNER'));

ALTER TABLE "workers"
  ADD CONSTRAINT "workers_id_form" CHECK (length(id) BETWEEN 1 AND 64),
  ADD CONSTRAINT "workers_slots_range" CHECK (slots > 0),
  ADD CONSTRAINT "workers_state_known" CHECK (state IN ('READY', 'SICK', 'DRAINING', 'GONE'));

-- Only one of them --------------------------------------------------------------------------------------------------

-- One winner: who holds the pass, or was paid.
CREATE UNIQUE INDEX "submissions_one_winner" ON "submissions" (contract_id)
  WHERE state IN ('PASSED', 'PAID');

CREATE UNIQUE INDEX "runs_one_live_verify" ON "runs" (submission_id)
  WHERE purpose = 'VERIFY' AND state IN ('QUEUED', 'RUNNING');

-- All accounts of one principal begin alike. The condition, which holds for each, keeps it out of sight of Prisma, whose
-- comparison does not know the operators of an index.
CREATE INDEX "ledger_accounts_name_prefix_idx" ON "ledger_accounts" ("name" text_pattern_ops)
  WHERE "name" IS NOT NULL;

-- States ------------------------------------------------------------------------------------------------------------

-- The arguments are the moves of packages/settlement/src/transitions.ts; a test compares them. One decision may make
-- several moves, of which only the end is stored: it must be within reach.
CREATE FUNCTION refuse_unknown_move() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  reached text[] := ARRAY[OLD.state];
  looked_at int := 0;
BEGIN
  WHILE cardinality(reached) > looked_at LOOP
    IF NEW.state = ANY (reached) THEN
      RETURN NEW;
    END IF;
    looked_at := cardinality(reached);
    reached := ARRAY(
      SELECT unnest(reached)
      UNION
      SELECT split_part(move, '>', 2) FROM unnest(TG_ARGV) AS move
      WHERE split_part(move, '>', 1) = ANY (reached)
    );
  END LOOP;
  RAISE EXCEPTION '% of % from % to %', TG_NAME, OLD.id, OLD.state, NEW.state
    USING ERRCODE = 'check_violation', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME;
END $$;

CREATE TRIGGER "contracts_moves" BEFORE UPDATE ON "contracts"
  FOR EACH ROW WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION refuse_unknown_move(
    'DRAFT>PROVED', 'DRAFT>EXPIRED', 'DRAFT>CANCELLED',
    'PROVED>OPEN', 'PROVED>EXPIRED', 'PROVED>CANCELLED',
    'OPEN>IN_CHALLENGE', 'OPEN>EXPIRED', 'OPEN>CANCELLED',
    'IN_CHALLENGE>OPEN', 'IN_CHALLENGE>SETTLED'
  );

CREATE TRIGGER "submissions_moves" BEFORE UPDATE ON "submissions"
  FOR EACH ROW WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION refuse_unknown_move(
    'RECEIVED>QUEUED', 'RECEIVED>DEFERRED', 'RECEIVED>VERIFIED', 'RECEIVED>INCONCLUSIVE',
    'RECEIVED>SUPERSEDED',
    'QUEUED>RUNNING', 'QUEUED>DEFERRED',
    'RUNNING>QUEUED', 'RUNNING>VERIFIED', 'RUNNING>HELD', 'RUNNING>DEFERRED',
    'VERIFIED>PASSED', 'VERIFIED>FAILED', 'VERIFIED>INCONCLUSIVE', 'VERIFIED>DEFERRED',
    'HELD>QUEUED', 'HELD>DEFERRED', 'HELD>INCONCLUSIVE', 'HELD>SUPERSEDED',
    'PASSED>DEFERRED', 'PASSED>OVERTURNED', 'PASSED>PAID',
    'DEFERRED>QUEUED', 'DEFERRED>RUNNING', 'DEFERRED>PASSED', 'DEFERRED>FAILED',
    'DEFERRED>INCONCLUSIVE', 'DEFERRED>SUPERSEDED',
    'INCONCLUSIVE>RECEIVED', 'INCONCLUSIVE>QUEUED', 'INCONCLUSIVE>DEFERRED'
  );

CREATE TRIGGER "runs_moves" BEFORE UPDATE ON "runs"
  FOR EACH ROW WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION refuse_unknown_move(
    'QUEUED>RUNNING', 'QUEUED>ABANDONED',
    'RUNNING>QUEUED', 'RUNNING>SEALED', 'RUNNING>ABANDONED', 'RUNNING>HELD'
  );

CREATE TRIGGER "challenges_moves" BEFORE UPDATE ON "challenges"
  FOR EACH ROW WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION refuse_unknown_move(
    'RERUNNING>AWAITING_ARBITER', 'RERUNNING>UPHELD', 'RERUNNING>OVERTURNED', 'RERUNNING>VOIDED',
    'AWAITING_ARBITER>RERUNNING', 'AWAITING_ARBITER>UPHELD', 'AWAITING_ARBITER>OVERTURNED',
    'AWAITING_ARBITER>LAPSED', 'AWAITING_ARBITER>VOIDED'
  );

-- What is frozen ----------------------------------------------------------------------------------------------------

-- Called by triggers whose WHEN says which change is refused.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '%: this % of % is refused', TG_NAME, TG_OP, TG_TABLE_NAME
    USING ERRCODE = 'check_violation', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME;
END $$;

CREATE TRIGGER "contracts_frozen" BEFORE UPDATE ON "contracts"
  FOR EACH ROW WHEN (
    OLD.state <> 'DRAFT' AND (
      OLD.id, OLD.seq, OLD.requester_id, OLD.document, OLD.digest, OLD.draft_digest, OLD.title,
      OLD.contract_kind, OLD.repository_url, OLD.base_commit, OLD.package_sha256, OLD.closes_at,
      OLD.reward_minor, OLD.currency, OLD.fee_bps, OLD.window_seconds, OLD.response_seconds,
      OLD.bond_minor, OLD.invited_ids, OLD.invite_only, OLD.needs_claim, OLD.base_blob
    ) IS DISTINCT FROM (
      NEW.id, NEW.seq, NEW.requester_id, NEW.document, NEW.digest, NEW.draft_digest, NEW.title,
      NEW.contract_kind, NEW.repository_url, NEW.base_commit, NEW.package_sha256, NEW.closes_at,
      NEW.reward_minor, NEW.currency, NEW.fee_bps, NEW.window_seconds, NEW.response_seconds,
      NEW.bond_minor, NEW.invited_ids, NEW.invite_only, NEW.needs_claim, NEW.base_blob
    )
  ) EXECUTE FUNCTION refuse_change();

-- Who, what and the place in line, for ever; what was captured, once it was.
CREATE TRIGGER "submissions_frozen" BEFORE UPDATE ON "submissions"
  FOR EACH ROW WHEN (
    (OLD.id, OLD.seq, OLD.contract_id, OLD.solver_id, OLD.repository_url, OLD.commit, OLD.received_at)
      IS DISTINCT FROM
      (NEW.id, NEW.seq, NEW.contract_id, NEW.solver_id, NEW.repository_url, NEW.commit, NEW.received_at)
    OR OLD.source_blob IS DISTINCT FROM coalesce(NEW.source_blob, '') AND OLD.source_blob IS NOT NULL
    OR OLD.tree IS DISTINCT FROM coalesce(NEW.tree, '') AND OLD.tree IS NOT NULL
  ) EXECUTE FUNCTION refuse_change();

-- The fencing token and the tries only grow; a sealed result stays.
CREATE TRIGGER "runs_frozen" BEFORE UPDATE ON "runs"
  FOR EACH ROW WHEN (
    (OLD.id, OLD.submission_id, OLD.contract_id, OLD.purpose)
      IS DISTINCT FROM (NEW.id, NEW.submission_id, NEW.contract_id, NEW.purpose)
    OR NEW.attempt < OLD.attempt
    OR NEW.tries < OLD.tries
    OR OLD.state = 'SEALED' AND (
      (OLD.attempt, OLD.verdict, OLD.reason, OLD.result_digest)
        IS DISTINCT FROM (NEW.attempt, NEW.verdict, NEW.reason, NEW.result_digest)
      OR OLD.result IS NOT NULL AND OLD.result IS DISTINCT FROM NEW.result
    )
  ) EXECUTE FUNCTION refuse_change();

CREATE TRIGGER "challenges_frozen" BEFORE UPDATE ON "challenges"
  FOR EACH ROW WHEN (
    (OLD.id, OLD.seq, OLD.contract_id, OLD.submission_id, OLD.challenger_id, OLD.kind, OLD.bond_minor,
      OLD.evidence, OLD.filed_at)
      IS DISTINCT FROM
      (NEW.id, NEW.seq, NEW.contract_id, NEW.submission_id, NEW.challenger_id, NEW.kind, NEW.bond_minor,
        NEW.evidence, NEW.filed_at)
  ) EXECUTE FUNCTION refuse_change();

CREATE TRIGGER "payouts_frozen" BEFORE UPDATE ON "payouts"
  FOR EACH ROW WHEN (
    (OLD.id, OLD.contract_id, OLD.submission_id, OLD.solver_id, OLD.amount_minor, OLD.currency)
      IS DISTINCT FROM
      (NEW.id, NEW.contract_id, NEW.submission_id, NEW.solver_id, NEW.amount_minor, NEW.currency)
    OR OLD.state = 'CONFIRMED'
  ) EXECUTE FUNCTION refuse_change();

-- Whole once they have a digest.
CREATE TRIGGER "blobs_frozen" BEFORE UPDATE ON "blobs"
  FOR EACH ROW WHEN (
    OLD.sha256 IS NOT NULL
    AND (OLD.id, OLD.sha256, OLD.size_bytes) IS DISTINCT FROM (NEW.id, NEW.sha256, NEW.size_bytes)
  ) EXECUTE FUNCTION refuse_change();

CREATE FUNCTION assert_blob_open() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM blobs WHERE id = NEW.blob_id AND sha256 IS NULL) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'blob % is complete or unknown', NEW.blob_id
    USING ERRCODE = 'check_violation', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME;
END $$;
CREATE TRIGGER "blob_chunks_open" BEFORE INSERT ON "blob_chunks"
  FOR EACH ROW EXECUTE FUNCTION assert_blob_open();
CREATE TRIGGER "blob_chunks_frozen" BEFORE UPDATE ON "blob_chunks"
  FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- Added to, never changed: not even a statement that finds no row.
CREATE TRIGGER "ledger_transfers_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "ledger_transfers"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "ledger_postings_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "ledger_postings"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "escrows_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "escrows"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "escrow_resolutions_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "escrow_resolutions"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "resolutions_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "resolutions"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "events_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "events"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- The ledger --------------------------------------------------------------------------------------------------------

INSERT INTO "ledger_head" (id, seq, hash) VALUES (1, 0, repeat('0', 64));

CREATE TRIGGER "ledger_head_kept" BEFORE DELETE OR TRUNCATE ON "ledger_head"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- A depth of none is a statement of somebody; in the trigger of a transfer it is one.
CREATE TRIGGER "ledger_head_moves" BEFORE UPDATE ON "ledger_head"
  FOR EACH ROW WHEN (pg_trigger_depth() = 0 AND OLD IS DISTINCT FROM NEW)
  EXECUTE FUNCTION refuse_change();

-- A transfer is the next link or none, and moves the head.
CREATE FUNCTION extend_chain() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE head ledger_head;
BEGIN
  SELECT * INTO STRICT head FROM ledger_head WHERE id = 1 FOR UPDATE;
  IF NEW.seq <> head.seq + 1 OR NEW.prev_hash <> head.hash THEN
    RAISE EXCEPTION 'transfer % does not follow number %', NEW.id, head.seq
      USING ERRCODE = 'check_violation', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME;
  END IF;
  UPDATE ledger_head SET seq = NEW.seq, hash = NEW.hash WHERE id = 1;
  NEW.xid := pg_current_xact_id()::text::bigint;
  RETURN NEW;
END $$;
CREATE TRIGGER "ledger_transfers_chain" BEFORE INSERT ON "ledger_transfers"
  FOR EACH ROW EXECUTE FUNCTION extend_chain();

CREATE FUNCTION assert_has_posting() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM ledger_postings WHERE transfer_id = NEW.id) THEN
    RETURN NULL;
  END IF;
  RAISE EXCEPTION 'transfer % moves nothing', NEW.id
    USING ERRCODE = 'check_violation', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME;
END $$;
CREATE CONSTRAINT TRIGGER "ledger_transfers_move" AFTER INSERT ON "ledger_transfers"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION assert_has_posting();

-- Both balances move with the posting, in the transaction that recorded the transfer, and in its currency.
CREATE FUNCTION move_balances() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  transfer ledger_transfers;
  moved int;
BEGIN
  SELECT * INTO transfer FROM ledger_transfers WHERE id = NEW.transfer_id;
  IF transfer.xid IS DISTINCT FROM pg_current_xact_id()::text::bigint THEN
    RAISE EXCEPTION 'transfer % is complete or unknown', NEW.transfer_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'ledger_postings_late', TABLE = TG_TABLE_NAME;
  END IF;
  UPDATE ledger_accounts
    SET balance_minor = balance_minor
      + CASE WHEN name = NEW.destination THEN NEW.amount_minor ELSE -NEW.amount_minor END
    WHERE name IN (NEW.source, NEW.destination) AND currency = transfer.currency;
  GET DIAGNOSTICS moved = ROW_COUNT;
  IF moved <> 2 THEN
    RAISE EXCEPTION '% and % are not both accounts in %', NEW.source, NEW.destination, transfer.currency
      USING ERRCODE = 'check_violation', CONSTRAINT = 'ledger_postings_accounts', TABLE = TG_TABLE_NAME;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER "ledger_postings_balances" AFTER INSERT ON "ledger_postings"
  FOR EACH ROW EXECUTE FUNCTION move_balances();

CREATE TRIGGER "ledger_accounts_begin_empty" BEFORE INSERT ON "ledger_accounts"
  FOR EACH ROW WHEN (NEW.balance_minor <> 0) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "ledger_accounts_moves" BEFORE UPDATE ON "ledger_accounts"
  FOR EACH ROW WHEN (
    (OLD.name, OLD.currency, OLD.may_overdraw)
      IS DISTINCT FROM (NEW.name, NEW.currency, NEW.may_overdraw)
    OR pg_trigger_depth() = 0 AND OLD.balance_minor <> NEW.balance_minor
  ) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "ledger_accounts_kept" BEFORE TRUNCATE ON "ledger_accounts"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- What belongs together ---------------------------------------------------------------------------------------------

CREATE FUNCTION assert_escrow_amount() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (
    SELECT FROM contracts
    WHERE id = NEW.contract_id AND reward_minor = NEW.amount_minor AND currency = NEW.currency
  ) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'the escrow of % is not its reward', NEW.contract_id
    USING ERRCODE = 'check_violation', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME;
END $$;
CREATE TRIGGER "escrows_amount" BEFORE INSERT ON "escrows"
  FOR EACH ROW EXECUTE FUNCTION assert_escrow_amount();

-- A challenge is of another than the solver, in the window, and is answered by runs of its own submission.
CREATE FUNCTION assert_challenge() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE submission submissions;
BEGIN
  SELECT * INTO submission FROM submissions WHERE id = NEW.submission_id;
  IF TG_OP = 'INSERT' AND NEW.kind <> 'UPHOLD_PASS' THEN
    IF NEW.challenger_id = submission.solver_id THEN
      RAISE EXCEPTION 'challenge % is of the solver', NEW.id
        USING ERRCODE = 'check_violation', CONSTRAINT = 'challenges_not_own', TABLE = TG_TABLE_NAME;
    END IF;
    IF (NEW.filed_at >= submission.window_opens_at AND NEW.filed_at < submission.window_closes_at)
      IS NOT TRUE THEN
      RAISE EXCEPTION 'challenge % is not in the window', NEW.id
        USING ERRCODE = 'check_violation', CONSTRAINT = 'challenges_in_window', TABLE = TG_TABLE_NAME;
    END IF;
  END IF;
  IF EXISTS (
    SELECT FROM unnest(NEW.run_ids) AS run_id
    WHERE NOT EXISTS (SELECT FROM runs WHERE id = run_id AND submission_id = NEW.submission_id)
  ) THEN
    RAISE EXCEPTION 'challenge % names a run of another submission', NEW.id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'challenges_own_runs', TABLE = TG_TABLE_NAME;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER "challenges_belong" BEFORE INSERT OR UPDATE OF run_ids ON "challenges"
  FOR EACH ROW EXECUTE FUNCTION assert_challenge();

CREATE FUNCTION assert_payout() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (
    SELECT FROM submissions s JOIN escrows e USING (contract_id)
    WHERE s.id = NEW.submission_id AND s.solver_id = NEW.solver_id
      AND e.amount_minor >= NEW.amount_minor AND e.currency = NEW.currency
  ) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'payout % is not its solver''s share of the escrow', NEW.id
    USING ERRCODE = 'check_violation', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME;
END $$;
CREATE TRIGGER "payouts_belong" BEFORE INSERT ON "payouts"
  FOR EACH ROW EXECUTE FUNCTION assert_payout();

-- At commit, a contract's state, its escrow and its winner tell one story: nothing is open without money, paid early,
-- paid to nobody, or kept after the end.
CREATE FUNCTION assert_settlement() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  contract contracts;
  has_escrow boolean;
  outcome text;
  winners bigint;
BEGIN
  SELECT * INTO contract FROM contracts
    WHERE id = CASE TG_TABLE_NAME WHEN 'contracts' THEN to_jsonb(NEW) ->> 'id'
      ELSE to_jsonb(NEW) ->> 'contract_id' END;
  has_escrow := EXISTS (SELECT FROM escrows WHERE contract_id = contract.id);
  SELECT resolution INTO outcome FROM escrow_resolutions WHERE contract_id = contract.id;
  SELECT count(*) INTO winners FROM submissions WHERE contract_id = contract.id AND state = 'PAID';
  IF (CASE
    WHEN contract.state IN ('DRAFT', 'PROVED') THEN NOT has_escrow
    WHEN contract.state IN ('OPEN', 'IN_CHALLENGE') THEN has_escrow AND outcome IS NULL AND winners = 0
    WHEN contract.state = 'SETTLED' THEN outcome IS NOT DISTINCT FROM 'PAYOUT' AND winners = 1
    ELSE winners = 0 AND has_escrow = (outcome IS NOT DISTINCT FROM 'REFUND')
  END) THEN
    RETURN NULL;
  END IF;
  RAISE EXCEPTION 'contract % is % with escrow %, resolution % and % winners', contract.id,
    contract.state, has_escrow, outcome, winners
    USING ERRCODE = 'check_violation', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME;
END $$;
CREATE CONSTRAINT TRIGGER "contracts_settlement" AFTER INSERT OR UPDATE OF state ON "contracts"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION assert_settlement();
CREATE CONSTRAINT TRIGGER "escrows_settlement" AFTER INSERT ON "escrows"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION assert_settlement();
CREATE CONSTRAINT TRIGGER "escrow_resolutions_settlement" AFTER INSERT ON "escrow_resolutions"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION assert_settlement();

CREATE FUNCTION assert_window_over() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.window_closes_at <= clock_timestamp() AND NOT EXISTS (
    SELECT FROM challenges
    WHERE submission_id = NEW.id AND state IN ('RERUNNING', 'AWAITING_ARBITER')
  ) AND EXISTS (
    SELECT FROM escrow_resolutions WHERE contract_id = NEW.contract_id AND resolution = 'PAYOUT'
  ) THEN
    RETURN NULL;
  END IF;
  RAISE EXCEPTION 'submission % is paid in its window, under a challenge, or without a payout', NEW.id
    USING ERRCODE = 'check_violation', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME;
END $$;
CREATE CONSTRAINT TRIGGER "submissions_paid" AFTER INSERT OR UPDATE OF state ON "submissions"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.state = 'PAID')
  EXECUTE FUNCTION assert_window_over();

-- Nothing holds the pass but by a sealed run that says so.
CREATE FUNCTION assert_proved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (
    SELECT FROM runs
    WHERE submission_id = NEW.id AND state = 'SEALED' AND verdict = 'PASS' AND result_digest = NEW.result_digest
  ) THEN
    RETURN NULL;
  END IF;
  RAISE EXCEPTION 'submission % holds the pass without a run', NEW.id
    USING ERRCODE = 'check_violation', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME;
END $$;
CREATE CONSTRAINT TRIGGER "submissions_proved" AFTER INSERT OR UPDATE OF state ON "submissions"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.state IN ('PASSED', 'PAID'))
  EXECUTE FUNCTION assert_proved();
