-- AlterTable
ALTER TABLE "contracts" ADD COLUMN     "dependencies_sha256" TEXT,
ADD COLUMN     "proving_blob" TEXT;

-- AddForeignKey
ALTER TABLE "contracts" ADD CONSTRAINT "contracts_dependencies_sha256_requester_id_fkey" FOREIGN KEY ("dependencies_sha256", "requester_id") REFERENCES "packages"("sha256", "owner_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "contracts" ADD CONSTRAINT "contracts_proving_blob_fkey" FOREIGN KEY ("proving_blob") REFERENCES "blobs"("sha256") ON DELETE RESTRICT ON UPDATE CASCADE;

-- Each rule has a test that tries to break it: packages/db/src/rules/.

-- An edit makes a contract that is PROVED a draft again.
DROP TRIGGER "contracts_moves" ON "contracts";
CREATE TRIGGER "contracts_moves" BEFORE UPDATE ON "contracts"
  FOR EACH ROW WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION refuse_unknown_move(
    'DRAFT>PROVED', 'DRAFT>EXPIRED', 'DRAFT>CANCELLED',
    'PROVED>DRAFT', 'PROVED>OPEN', 'PROVED>EXPIRED', 'PROVED>CANCELLED',
    'OPEN>IN_CHALLENGE', 'OPEN>EXPIRED', 'OPEN>CANCELLED',
    'IN_CHALLENGE>OPEN', 'IN_CHALLENGE>SETTLED'
  );

-- What was approved before by its words alone, and holds no money yet, is proved first.
UPDATE "contracts" SET "state" = 'DRAFT', "approval_state" = 'NONE' WHERE "state" = 'PROVED';

-- As before, with the bundle; and what approval found stays with the document that it found it of.
DROP TRIGGER "contracts_frozen" ON "contracts";
CREATE TRIGGER "contracts_frozen" BEFORE UPDATE ON "contracts"
  FOR EACH ROW WHEN (
    OLD.state <> 'DRAFT' AND ((
      OLD.id, OLD.seq, OLD.requester_id, OLD.document, OLD.digest, OLD.draft_digest, OLD.title,
      OLD.contract_kind, OLD.repository_url, OLD.base_commit, OLD.package_sha256, OLD.dependencies_sha256,
      OLD.closes_at, OLD.reward_minor, OLD.currency, OLD.fee_bps, OLD.window_seconds, OLD.response_seconds,
      OLD.bond_minor, OLD.invited_ids, OLD.invite_only, OLD.needs_claim, OLD.base_blob
    ) IS DISTINCT FROM (
      NEW.id, NEW.seq, NEW.requester_id, NEW.document, NEW.digest, NEW.draft_digest, NEW.title,
      NEW.contract_kind, NEW.repository_url, NEW.base_commit, NEW.package_sha256, NEW.dependencies_sha256,
      NEW.closes_at, NEW.reward_minor, NEW.currency, NEW.fee_bps, NEW.window_seconds, NEW.response_seconds,
      NEW.bond_minor, NEW.invited_ids, NEW.invite_only, NEW.needs_claim, NEW.base_blob
    ) OR NEW.state <> 'DRAFT' AND (
      OLD.approval_state, OLD.findings, OLD.proving_blob
    ) IS DISTINCT FROM (
      NEW.approval_state, NEW.findings, NEW.proving_blob
    ))
  ) EXECUTE FUNCTION refuse_change();

-- Nothing is PROVED without the report that says so, and nothing leaves DRAFT for money but by PROVED.
CREATE TRIGGER "contracts_begin_draft" BEFORE INSERT ON "contracts"
  FOR EACH ROW WHEN (NEW.state IN ('PROVED', 'OPEN', 'IN_CHALLENGE', 'SETTLED'))
  EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "contracts_proved" BEFORE UPDATE ON "contracts"
  FOR EACH ROW WHEN (
    OLD.state = 'DRAFT' AND NEW.state NOT IN ('DRAFT', 'EXPIRED', 'CANCELLED') AND (
      NEW.state <> 'PROVED' OR NEW.approval_state <> 'DONE'
      OR NEW.base_blob IS NULL OR NEW.proving_blob IS NULL
    )
  ) EXECUTE FUNCTION refuse_change();

-- A report is of one document: with an edit it is gone, and the approval that runs is nobody's any more. Only what ends
-- an approval may change the document too, as it pins the image.
CREATE TRIGGER "contracts_edited" BEFORE UPDATE ON "contracts"
  FOR EACH ROW WHEN (
    NEW.state = 'DRAFT' AND (OLD.state <> 'DRAFT' OR OLD.document <> NEW.document)
    AND (NEW.approval_state <> 'NONE' OR NEW.proving_blob IS NOT NULL)
    AND NOT (OLD.approval_state = 'RUNNING' AND NEW.approval_state = 'DONE')
  ) EXECUTE FUNCTION refuse_change();
