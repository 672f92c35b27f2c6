-- CreateTable
CREATE TABLE "verifiers" (
    "id" TEXT NOT NULL,
    "seq" BIGSERIAL NOT NULL,
    "owner_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "verifiers_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "verifier_contracts" (
    "id" TEXT NOT NULL,
    "seq" BIGSERIAL NOT NULL,
    "verifier_id" TEXT NOT NULL,
    "version_number" INTEGER NOT NULL,
    "created_by_id" TEXT NOT NULL,
    "document" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "yanked_at" TIMESTAMPTZ(6),

    CONSTRAINT "verifier_contracts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "implementations" (
    "id" TEXT NOT NULL,
    "seq" BIGSERIAL NOT NULL,
    "contract_id" TEXT NOT NULL,
    "stage_key" TEXT NOT NULL,
    "published_by_id" TEXT NOT NULL,
    "package_sha256" TEXT NOT NULL,
    "program_digest" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'PENDING',
    "report" TEXT,
    "problem" TEXT,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ(6),

    CONSTRAINT "implementations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "review_protocols" (
    "id" TEXT NOT NULL,
    "seq" BIGSERIAL NOT NULL,
    "created_by_id" TEXT NOT NULL,
    "document" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "review_protocols_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "problems" (
    "id" TEXT NOT NULL,
    "seq" BIGSERIAL NOT NULL,
    "owner_id" TEXT NOT NULL,
    "contract_id" TEXT NOT NULL,
    "title" TEXT NOT NULL,
    "statement" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "facts" JSONB NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "problems_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "problem_inputs" (
    "problem_id" TEXT NOT NULL,
    "slot" TEXT NOT NULL,
    "blob" TEXT NOT NULL,

    CONSTRAINT "problem_inputs_pkey" PRIMARY KEY ("problem_id","slot")
);

-- CreateTable
CREATE TABLE "entries" (
    "id" TEXT NOT NULL,
    "seq" BIGSERIAL NOT NULL,
    "problem_id" TEXT NOT NULL,
    "solver_id" TEXT NOT NULL,
    "summary_text" TEXT,
    "received_at" TIMESTAMPTZ(6) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "entries_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "entry_artifacts" (
    "entry_id" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "filename" TEXT NOT NULL,
    "media_type" TEXT,
    "size_bytes" BIGINT NOT NULL,
    "blob" TEXT NOT NULL,

    CONSTRAINT "entry_artifacts_pkey" PRIMARY KEY ("entry_id","role")
);

-- CreateTable
CREATE TABLE "checks" (
    "id" TEXT NOT NULL,
    "seq" BIGSERIAL NOT NULL,
    "entry_id" TEXT NOT NULL,
    "problem_id" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "facts" JSONB NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "next_due_at" TIMESTAMPTZ(6),
    "evaluation" TEXT,
    "attestation" TEXT,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ(6),

    CONSTRAINT "checks_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "partner_keys" (
    "fingerprint" TEXT NOT NULL,
    "external_system" TEXT NOT NULL,
    "public_key" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "retired_at" TIMESTAMPTZ(6),

    CONSTRAINT "partner_keys_pkey" PRIMARY KEY ("fingerprint")
);

-- CreateIndex
CREATE UNIQUE INDEX "verifiers_seq_key" ON "verifiers"("seq");

-- CreateIndex
CREATE UNIQUE INDEX "verifiers_owner_id_name_key" ON "verifiers"("owner_id", "name");

-- CreateIndex
CREATE UNIQUE INDEX "verifier_contracts_seq_key" ON "verifier_contracts"("seq");

-- CreateIndex
CREATE UNIQUE INDEX "verifier_contracts_verifier_id_version_number_key" ON "verifier_contracts"("verifier_id", "version_number");

-- CreateIndex
CREATE UNIQUE INDEX "verifier_contracts_verifier_id_digest_key" ON "verifier_contracts"("verifier_id", "digest");

-- CreateIndex
CREATE UNIQUE INDEX "implementations_seq_key" ON "implementations"("seq");

-- CreateIndex
CREATE INDEX "implementations_contract_id_stage_key_seq_idx" ON "implementations"("contract_id", "stage_key", "seq");

-- CreateIndex
CREATE INDEX "implementations_package_sha256_idx" ON "implementations"("package_sha256");

-- CreateIndex
CREATE UNIQUE INDEX "review_protocols_seq_key" ON "review_protocols"("seq");

-- CreateIndex
CREATE UNIQUE INDEX "review_protocols_created_by_id_digest_key" ON "review_protocols"("created_by_id", "digest");

-- CreateIndex
CREATE UNIQUE INDEX "problems_seq_key" ON "problems"("seq");

-- CreateIndex
CREATE INDEX "problem_inputs_blob_idx" ON "problem_inputs"("blob");

-- CreateIndex
CREATE UNIQUE INDEX "entries_seq_key" ON "entries"("seq");

-- CreateIndex
CREATE INDEX "entries_problem_id_seq_idx" ON "entries"("problem_id", "seq");

-- CreateIndex
CREATE UNIQUE INDEX "entries_id_problem_id_key" ON "entries"("id", "problem_id");

-- CreateIndex
CREATE INDEX "entry_artifacts_blob_idx" ON "entry_artifacts"("blob");

-- CreateIndex
CREATE UNIQUE INDEX "checks_seq_key" ON "checks"("seq");

-- CreateIndex
CREATE INDEX "checks_state_seq_idx" ON "checks"("state", "seq");

-- CreateIndex
CREATE INDEX "checks_next_due_at_idx" ON "checks"("next_due_at");

-- CreateIndex
CREATE UNIQUE INDEX "checks_entry_id_problem_id_key" ON "checks"("entry_id", "problem_id");

-- CreateIndex
CREATE INDEX "partner_keys_external_system_idx" ON "partner_keys"("external_system");

-- AddForeignKey
ALTER TABLE "verifiers" ADD CONSTRAINT "verifiers_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "principals"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "verifier_contracts" ADD CONSTRAINT "verifier_contracts_verifier_id_fkey" FOREIGN KEY ("verifier_id") REFERENCES "verifiers"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "verifier_contracts" ADD CONSTRAINT "verifier_contracts_created_by_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "principals"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "implementations" ADD CONSTRAINT "implementations_contract_id_fkey" FOREIGN KEY ("contract_id") REFERENCES "verifier_contracts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "implementations" ADD CONSTRAINT "implementations_published_by_id_fkey" FOREIGN KEY ("published_by_id") REFERENCES "principals"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "implementations" ADD CONSTRAINT "implementations_package_sha256_published_by_id_fkey" FOREIGN KEY ("package_sha256", "published_by_id") REFERENCES "packages"("sha256", "owner_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "review_protocols" ADD CONSTRAINT "review_protocols_created_by_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "principals"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "problems" ADD CONSTRAINT "problems_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "principals"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "problems" ADD CONSTRAINT "problems_contract_id_fkey" FOREIGN KEY ("contract_id") REFERENCES "verifier_contracts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "problem_inputs" ADD CONSTRAINT "problem_inputs_problem_id_fkey" FOREIGN KEY ("problem_id") REFERENCES "problems"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "problem_inputs" ADD CONSTRAINT "problem_inputs_blob_fkey" FOREIGN KEY ("blob") REFERENCES "blobs"("sha256") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "entries" ADD CONSTRAINT "entries_problem_id_fkey" FOREIGN KEY ("problem_id") REFERENCES "problems"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "entries" ADD CONSTRAINT "entries_solver_id_fkey" FOREIGN KEY ("solver_id") REFERENCES "principals"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "entry_artifacts" ADD CONSTRAINT "entry_artifacts_entry_id_fkey" FOREIGN KEY ("entry_id") REFERENCES "entries"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "entry_artifacts" ADD CONSTRAINT "entry_artifacts_blob_fkey" FOREIGN KEY ("blob") REFERENCES "blobs"("sha256") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "checks" ADD CONSTRAINT "checks_entry_id_problem_id_fkey" FOREIGN KEY ("entry_id", "problem_id") REFERENCES "entries"("id", "problem_id") ON DELETE RESTRICT ON UPDATE CASCADE;
