-- CreateTable
CREATE TABLE "principals" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "roles" TEXT[],
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "disabled_at" TIMESTAMPTZ(6),

    CONSTRAINT "principals_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "api_keys" (
    "id" TEXT NOT NULL,
    "principal_id" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "label" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "revoked_at" TIMESTAMPTZ(6),

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "idempotency_keys" (
    "principal_id" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "input_hash" TEXT NOT NULL,
    "status" INTEGER NOT NULL,
    "body" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("principal_id","key")
);

-- CreateTable
CREATE TABLE "blobs" (
    "id" BIGSERIAL NOT NULL,
    "sha256" TEXT,
    "size_bytes" BIGINT,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "blobs_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "blob_chunks" (
    "blob_id" BIGINT NOT NULL,
    "index" INTEGER NOT NULL,
    "bytes" BYTEA NOT NULL,

    CONSTRAINT "blob_chunks_pkey" PRIMARY KEY ("blob_id","index")
);

-- CreateTable
CREATE TABLE "packages" (
    "sha256" TEXT NOT NULL,
    "owner_id" TEXT NOT NULL,
    "entry_count" INTEGER NOT NULL,
    "size_bytes" BIGINT NOT NULL,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "packages_pkey" PRIMARY KEY ("sha256","owner_id")
);

-- CreateTable
CREATE TABLE "contracts" (
    "id" TEXT NOT NULL,
    "seq" BIGSERIAL NOT NULL,
    "requester_id" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'DRAFT',
    "document" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "draft_digest" TEXT NOT NULL,
    "title" TEXT NOT NULL,
    "contract_kind" TEXT NOT NULL,
    "repository_url" TEXT NOT NULL,
    "base_commit" TEXT NOT NULL,
    "package_sha256" TEXT,
    "closes_at" TIMESTAMPTZ(6) NOT NULL,
    "reward_minor" BIGINT NOT NULL,
    "currency" TEXT NOT NULL,
    "fee_bps" INTEGER NOT NULL,
    "window_seconds" INTEGER NOT NULL,
    "response_seconds" INTEGER NOT NULL,
    "bond_minor" BIGINT NOT NULL,
    "invited_ids" TEXT[],
    "invite_only" BOOLEAN NOT NULL,
    "needs_claim" BOOLEAN NOT NULL,
    "approval_state" TEXT NOT NULL DEFAULT 'NONE',
    "approval_attempt" INTEGER NOT NULL DEFAULT 0,
    "findings" JSONB NOT NULL DEFAULT '[]',
    "approval_problem" TEXT,
    "base_blob" TEXT,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ(6),
    "next_due_at" TIMESTAMPTZ(6),

    CONSTRAINT "contracts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "claim_tokens" (
    "contract_id" TEXT NOT NULL,
    "solver_id" TEXT NOT NULL,
    "token" TEXT NOT NULL,

    CONSTRAINT "claim_tokens_pkey" PRIMARY KEY ("contract_id","solver_id")
);

-- CreateTable
CREATE TABLE "submissions" (
    "id" TEXT NOT NULL,
    "seq" BIGSERIAL NOT NULL,
    "contract_id" TEXT NOT NULL,
    "solver_id" TEXT NOT NULL,
    "repository_url" TEXT NOT NULL,
    "commit" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'RECEIVED',
    "received_at" TIMESTAMPTZ(6) NOT NULL DEFAULT clock_timestamp(),
    "capture_by" TIMESTAMPTZ(6),
    "captured_at" TIMESTAMPTZ(6),
    "source_blob" TEXT,
    "tree" TEXT,
    "held_until" TIMESTAMPTZ(6),
    "window_opens_at" TIMESTAMPTZ(6),
    "window_closes_at" TIMESTAMPTZ(6),
    "verdict" TEXT,
    "reason" TEXT,
    "result_digest" TEXT,
    "updated_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "submissions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "runs" (
    "id" TEXT NOT NULL,
    "submission_id" TEXT NOT NULL,
    "contract_id" TEXT NOT NULL,
    "purpose" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'QUEUED',
    "attempt" INTEGER NOT NULL DEFAULT 0,
    "tries" INTEGER NOT NULL DEFAULT 0,
    "verdict" TEXT,
    "reason" TEXT,
    "result_digest" TEXT,
    "result" TEXT,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "started_at" TIMESTAMPTZ(6),
    "finished_at" TIMESTAMPTZ(6),

    CONSTRAINT "runs_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "attempts" (
    "run_id" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "worker_id" TEXT NOT NULL,
    "started_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "finished_at" TIMESTAMPTZ(6),
    "outcome" TEXT,
    "reason" TEXT,

    CONSTRAINT "attempts_pkey" PRIMARY KEY ("run_id","number")
);

-- CreateTable
CREATE TABLE "criterion_results" (
    "run_id" TEXT NOT NULL,
    "criterion_id" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "visibility" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "reason" TEXT,
    "message" TEXT,
    "exit_code" INTEGER,
    "metric" DOUBLE PRECISION,
    "peak_memory_bytes" BIGINT,
    "duration_ms" INTEGER,
    "output_sha256" TEXT,
    "log_blob" TEXT,
    "log_truncated" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "criterion_results_pkey" PRIMARY KEY ("run_id","criterion_id")
);

-- CreateTable
CREATE TABLE "challenges" (
    "id" TEXT NOT NULL,
    "seq" BIGSERIAL NOT NULL,
    "contract_id" TEXT NOT NULL,
    "submission_id" TEXT NOT NULL,
    "challenger_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "bond_minor" BIGINT NOT NULL,
    "evidence" TEXT NOT NULL,
    "filed_at" TIMESTAMPTZ(6) NOT NULL DEFAULT clock_timestamp(),
    "respond_by" TIMESTAMPTZ(6) NOT NULL,
    "decide_by" TIMESTAMPTZ(6) NOT NULL,
    "ended_at" TIMESTAMPTZ(6),
    "run_ids" TEXT[],
    "rerun_ordered" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "challenges_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "resolutions" (
    "challenge_id" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "arbiter_id" TEXT NOT NULL,
    "decision" TEXT NOT NULL,
    "statement" TEXT NOT NULL,
    "at" TIMESTAMPTZ(6) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "resolutions_pkey" PRIMARY KEY ("challenge_id","number")
);

-- CreateTable
CREATE TABLE "escrows" (
    "contract_id" TEXT NOT NULL,
    "amount_minor" BIGINT NOT NULL,
    "currency" TEXT NOT NULL,
    "transfer_id" TEXT NOT NULL,
    "funded_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "escrows_pkey" PRIMARY KEY ("contract_id")
);

-- CreateTable
CREATE TABLE "escrow_resolutions" (
    "contract_id" TEXT NOT NULL,
    "resolution" TEXT NOT NULL,
    "transfer_id" TEXT NOT NULL,
    "at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "escrow_resolutions_pkey" PRIMARY KEY ("contract_id")
);

-- CreateTable
CREATE TABLE "ledger_accounts" (
    "name" TEXT NOT NULL,
    "currency" TEXT NOT NULL,
    "balance_minor" BIGINT NOT NULL DEFAULT 0,
    "may_overdraw" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "ledger_accounts_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "ledger_transfers" (
    "id" TEXT NOT NULL,
    "seq" BIGINT NOT NULL,
    "kind" TEXT NOT NULL,
    "idempotency_key" TEXT NOT NULL,
    "input_hash" TEXT NOT NULL,
    "currency" TEXT NOT NULL,
    "contract_id" TEXT,
    "prev_hash" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "recorded_at" TIMESTAMPTZ(3) NOT NULL,
    "xid" BIGINT NOT NULL DEFAULT ((pg_current_xact_id())::text)::bigint,

    CONSTRAINT "ledger_transfers_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ledger_postings" (
    "transfer_id" TEXT NOT NULL,
    "index" INTEGER NOT NULL,
    "source" TEXT NOT NULL,
    "destination" TEXT NOT NULL,
    "amount_minor" BIGINT NOT NULL,

    CONSTRAINT "ledger_postings_pkey" PRIMARY KEY ("transfer_id","index")
);

-- CreateTable
CREATE TABLE "ledger_head" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "seq" BIGINT NOT NULL,
    "hash" TEXT NOT NULL,

    CONSTRAINT "ledger_head_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "payouts" (
    "id" TEXT NOT NULL,
    "contract_id" TEXT NOT NULL,
    "submission_id" TEXT NOT NULL,
    "solver_id" TEXT NOT NULL,
    "amount_minor" BIGINT NOT NULL,
    "currency" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'DUE',
    "tries" INTEGER NOT NULL DEFAULT 0,
    "next_try_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_problem" TEXT,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "confirmed_at" TIMESTAMPTZ(6),

    CONSTRAINT "payouts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "events" (
    "id" BIGSERIAL NOT NULL,
    "xid" BIGINT NOT NULL DEFAULT ((pg_current_xact_id())::text)::bigint,
    "at" TIMESTAMPTZ(6) NOT NULL DEFAULT clock_timestamp(),
    "name" TEXT NOT NULL,
    "actor_id" TEXT,
    "contract_id" TEXT,
    "submission_id" TEXT,
    "run_id" TEXT,
    "challenge_id" TEXT,
    "audience" TEXT NOT NULL,
    "data" JSONB NOT NULL,

    CONSTRAINT "events_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "workers" (
    "id" TEXT NOT NULL,
    "host" TEXT NOT NULL,
    "version" TEXT NOT NULL,
    "slots" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "problem" TEXT,
    "started_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "heartbeat_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "workers_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "principals_name_key" ON "principals"("name");

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_hash_key" ON "api_keys"("hash");

-- CreateIndex
CREATE INDEX "api_keys_principal_id_idx" ON "api_keys"("principal_id");

-- CreateIndex
CREATE INDEX "idempotency_keys_created_at_idx" ON "idempotency_keys" USING BRIN ("created_at");

-- CreateIndex
CREATE UNIQUE INDEX "blobs_sha256_key" ON "blobs"("sha256");

-- CreateIndex
CREATE UNIQUE INDEX "contracts_seq_key" ON "contracts"("seq");

-- CreateIndex
CREATE INDEX "contracts_next_due_at_idx" ON "contracts"("next_due_at");

-- CreateIndex
CREATE INDEX "contracts_requester_id_idx" ON "contracts"("requester_id");

-- CreateIndex
CREATE UNIQUE INDEX "claim_tokens_token_key" ON "claim_tokens"("token");

-- CreateIndex
CREATE UNIQUE INDEX "submissions_seq_key" ON "submissions"("seq");

-- CreateIndex
CREATE INDEX "submissions_contract_id_state_seq_idx" ON "submissions"("contract_id", "state", "seq");

-- CreateIndex
CREATE UNIQUE INDEX "submissions_id_contract_id_key" ON "submissions"("id", "contract_id");

-- CreateIndex
CREATE INDEX "runs_submission_id_idx" ON "runs"("submission_id");

-- CreateIndex
CREATE UNIQUE INDEX "challenges_seq_key" ON "challenges"("seq");

-- CreateIndex
CREATE INDEX "challenges_submission_id_idx" ON "challenges"("submission_id");

-- CreateIndex
CREATE UNIQUE INDEX "escrows_transfer_id_key" ON "escrows"("transfer_id");

-- CreateIndex
CREATE UNIQUE INDEX "escrow_resolutions_transfer_id_key" ON "escrow_resolutions"("transfer_id");

-- CreateIndex
CREATE UNIQUE INDEX "ledger_transfers_seq_key" ON "ledger_transfers"("seq");

-- CreateIndex
CREATE UNIQUE INDEX "ledger_transfers_idempotency_key_key" ON "ledger_transfers"("idempotency_key");

-- CreateIndex
CREATE UNIQUE INDEX "ledger_transfers_prev_hash_key" ON "ledger_transfers"("prev_hash");

-- CreateIndex
CREATE UNIQUE INDEX "ledger_transfers_hash_key" ON "ledger_transfers"("hash");

-- CreateIndex
CREATE INDEX "ledger_transfers_contract_id_idx" ON "ledger_transfers"("contract_id");

-- CreateIndex
CREATE INDEX "ledger_postings_source_idx" ON "ledger_postings"("source");

-- CreateIndex
CREATE INDEX "ledger_postings_destination_idx" ON "ledger_postings"("destination");

-- CreateIndex
CREATE UNIQUE INDEX "payouts_contract_id_key" ON "payouts"("contract_id");

-- CreateIndex
CREATE INDEX "payouts_state_next_try_at_idx" ON "payouts"("state", "next_try_at");

-- CreateIndex
CREATE INDEX "events_contract_id_xid_id_idx" ON "events"("contract_id", "xid", "id");

-- CreateIndex
CREATE INDEX "events_run_id_xid_id_idx" ON "events"("run_id", "xid", "id");

-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_principal_id_fkey" FOREIGN KEY ("principal_id") REFERENCES "principals"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_principal_id_fkey" FOREIGN KEY ("principal_id") REFERENCES "principals"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "blob_chunks" ADD CONSTRAINT "blob_chunks_blob_id_fkey" FOREIGN KEY ("blob_id") REFERENCES "blobs"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "packages" ADD CONSTRAINT "packages_sha256_fkey" FOREIGN KEY ("sha256") REFERENCES "blobs"("sha256") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "packages" ADD CONSTRAINT "packages_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "principals"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "contracts" ADD CONSTRAINT "contracts_requester_id_fkey" FOREIGN KEY ("requester_id") REFERENCES "principals"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "contracts" ADD CONSTRAINT "contracts_package_sha256_requester_id_fkey" FOREIGN KEY ("package_sha256", "requester_id") REFERENCES "packages"("sha256", "owner_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "contracts" ADD CONSTRAINT "contracts_base_blob_fkey" FOREIGN KEY ("base_blob") REFERENCES "blobs"("sha256") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "claim_tokens" ADD CONSTRAINT "claim_tokens_contract_id_fkey" FOREIGN KEY ("contract_id") REFERENCES "contracts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "claim_tokens" ADD CONSTRAINT "claim_tokens_solver_id_fkey" FOREIGN KEY ("solver_id") REFERENCES "principals"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "submissions" ADD CONSTRAINT "submissions_contract_id_fkey" FOREIGN KEY ("contract_id") REFERENCES "contracts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "submissions" ADD CONSTRAINT "submissions_solver_id_fkey" FOREIGN KEY ("solver_id") REFERENCES "principals"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "submissions" ADD CONSTRAINT "submissions_source_blob_fkey" FOREIGN KEY ("source_blob") REFERENCES "blobs"("sha256") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "runs" ADD CONSTRAINT "runs_contract_id_fkey" FOREIGN KEY ("contract_id") REFERENCES "contracts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "runs" ADD CONSTRAINT "runs_submission_id_contract_id_fkey" FOREIGN KEY ("submission_id", "contract_id") REFERENCES "submissions"("id", "contract_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "attempts" ADD CONSTRAINT "attempts_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "criterion_results" ADD CONSTRAINT "criterion_results_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "criterion_results" ADD CONSTRAINT "criterion_results_log_blob_fkey" FOREIGN KEY ("log_blob") REFERENCES "blobs"("sha256") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "challenges" ADD CONSTRAINT "challenges_contract_id_fkey" FOREIGN KEY ("contract_id") REFERENCES "contracts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "challenges" ADD CONSTRAINT "challenges_submission_id_contract_id_fkey" FOREIGN KEY ("submission_id", "contract_id") REFERENCES "submissions"("id", "contract_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "challenges" ADD CONSTRAINT "challenges_challenger_id_fkey" FOREIGN KEY ("challenger_id") REFERENCES "principals"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "resolutions" ADD CONSTRAINT "resolutions_challenge_id_fkey" FOREIGN KEY ("challenge_id") REFERENCES "challenges"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "resolutions" ADD CONSTRAINT "resolutions_arbiter_id_fkey" FOREIGN KEY ("arbiter_id") REFERENCES "principals"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "escrows" ADD CONSTRAINT "escrows_contract_id_fkey" FOREIGN KEY ("contract_id") REFERENCES "contracts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "escrows" ADD CONSTRAINT "escrows_transfer_id_fkey" FOREIGN KEY ("transfer_id") REFERENCES "ledger_transfers"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "escrow_resolutions" ADD CONSTRAINT "escrow_resolutions_contract_id_fkey" FOREIGN KEY ("contract_id") REFERENCES "escrows"("contract_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "escrow_resolutions" ADD CONSTRAINT "escrow_resolutions_transfer_id_fkey" FOREIGN KEY ("transfer_id") REFERENCES "ledger_transfers"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ledger_transfers" ADD CONSTRAINT "ledger_transfers_contract_id_fkey" FOREIGN KEY ("contract_id") REFERENCES "contracts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ledger_postings" ADD CONSTRAINT "ledger_postings_transfer_id_fkey" FOREIGN KEY ("transfer_id") REFERENCES "ledger_transfers"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ledger_postings" ADD CONSTRAINT "ledger_postings_source_fkey" FOREIGN KEY ("source") REFERENCES "ledger_accounts"("name") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ledger_postings" ADD CONSTRAINT "ledger_postings_destination_fkey" FOREIGN KEY ("destination") REFERENCES "ledger_accounts"("name") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "payouts" ADD CONSTRAINT "payouts_contract_id_fkey" FOREIGN KEY ("contract_id") REFERENCES "contracts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "payouts" ADD CONSTRAINT "payouts_submission_id_contract_id_fkey" FOREIGN KEY ("submission_id", "contract_id") REFERENCES "submissions"("id", "contract_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "payouts" ADD CONSTRAINT "payouts_solver_id_fkey" FOREIGN KEY ("solver_id") REFERENCES "principals"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "events" ADD CONSTRAINT "events_actor_id_fkey" FOREIGN KEY ("actor_id") REFERENCES "principals"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "events" ADD CONSTRAINT "events_contract_id_fkey" FOREIGN KEY ("contract_id") REFERENCES "contracts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "events" ADD CONSTRAINT "events_submission_id_fkey" FOREIGN KEY ("submission_id") REFERENCES "submissions"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "events" ADD CONSTRAINT "events_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "events" ADD CONSTRAINT "events_challenge_id_fkey" FOREIGN KEY ("challenge_id") REFERENCES "challenges"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
