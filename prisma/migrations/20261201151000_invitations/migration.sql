-- AlterTable
ALTER TABLE "principals" ADD COLUMN     "invited_by_id" TEXT;

-- AddForeignKey
ALTER TABLE "principals" ADD CONSTRAINT "principals_invited_by_id_fkey" FOREIGN KEY ("invited_by_id") REFERENCES "principals"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
