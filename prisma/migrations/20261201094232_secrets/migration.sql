-- CreateTable
CREATE TABLE "secrets" (
    "name" TEXT NOT NULL,
    "bytes" BYTEA NOT NULL,

    CONSTRAINT "secrets_pkey" PRIMARY KEY ("name")
);

INSERT INTO "secrets" ("name", "bytes")
VALUES ('event_cursor', uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));
