-- What the migration before changed has rules that are looked at when a transaction ends; until then a table that has
-- such rows takes no index.
SET CONSTRAINTS ALL IMMEDIATE;
SET CONSTRAINTS ALL DEFERRED;

-- Who names a blob is looked up before it is forgotten, and by every foreign key once more.
CREATE INDEX "contracts_base_blob_idx" ON "contracts" ("base_blob") WHERE "base_blob" IS NOT NULL;
CREATE INDEX "contracts_proving_blob_idx" ON "contracts" ("proving_blob") WHERE "proving_blob" IS NOT NULL;
CREATE INDEX "submissions_source_blob_idx" ON "submissions" ("source_blob") WHERE "source_blob" IS NOT NULL;
CREATE INDEX "criterion_results_log_blob_idx" ON "criterion_results" ("log_blob") WHERE "log_blob" IS NOT NULL;
