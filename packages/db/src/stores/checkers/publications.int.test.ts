import { afterAll, describe, expect, it } from 'vitest';
import { openCheckerStores, implementationOf } from '../../testing/open-checker-stores.ts';
import { callOf } from '../../testing/open-stores.ts';

const {
  stores,
  ownerId,
  solverId,
  packageOf,
  blobOf,
  publish,
  report,
  currentOf,
  openProblem,
  submit,
} = await openCheckerStores();
afterAll(() => stores.close());

describe('a publication', () => {
  it('of terms that the family has is a program for that version; of others the next version', async () => {
    const first = await publish(await packageOf('a', '1'));
    expect(first).toMatchObject({
      isNewContract: true,
      contract: { versionNumber: 1, ownerId, document: { version_number: 1, yanked_at: null } },
    });
    const again = await publish(await packageOf('a', '1'), first.verifier.id);
    expect(again).toMatchObject({ isNewContract: false, contract: { id: first.contract.id } });
    expect(implementationOf(again).id).toBe(implementationOf(first).id);
    const corrected = await publish(await packageOf('a', '2'), first.verifier.id);
    expect(corrected.contract.id).toBe(first.contract.id);
    expect(implementationOf(corrected).id).not.toBe(implementationOf(first).id);
    const changed = await publish(await packageOf('b', '2'), first.verifier.id);
    expect(changed).toMatchObject({ isNewContract: true, contract: { versionNumber: 2 } });
  });

  it('of a package that another system has published gives it ids of ours, and takes a correction of it', async () => {
    const elsewhere = {
      verifierId: 'vfr_01hf90aa4rrc',
      contractId: 'vct_01hf90aa4rrc',
      versionNumber: 7,
    };
    const first = await publish({ ...(await packageOf('foreign', '1')), ...elsewhere });
    const { document, versionNumber } = first.contract;
    expect(first.verifier.id).not.toBe(elsewhere.verifierId);
    expect(versionNumber).toBe(1);
    expect(document).toMatchObject({
      id: first.contract.id,
      verifier_id: first.verifier.id,
      version_number: 1,
    });
    const corrected = { ...(await packageOf('foreign', '2')), ...elsewhere };
    expect(await publish(corrected, first.verifier.id)).toMatchObject({
      isNewContract: false,
      contract: { id: first.contract.id },
    });
  });

  it('of a package that says it is of a family that is here, as another one, is refused', async () => {
    const { verifier } = await publish(await packageOf('claimed', '1'));
    const claiming = { ...(await packageOf('claimed', '2')), verifierId: verifier.id };
    await expect(publish(claiming)).rejects.toMatchObject({ code: 'CHECKER_VERIFIER_MISMATCH' });
    expect(await publish(claiming, verifier.id)).toMatchObject({ isNewContract: false });
  });

  it('at the same time as four others of one family: every one gets a version of its own', async () => {
    const { verifier } = await publish(await packageOf('race', '1'));
    const packages = await Promise.all(
      ['r2', 'r3', 'r4', 'r5'].map((name) => packageOf(name, '1')),
    );
    const published = await Promise.all(packages.map((each) => publish(each, verifier.id)));
    const versions = published.map(({ contract }) => contract.versionNumber);
    expect(versions.toSorted()).toEqual([2, 3, 4, 5]);
  });

  it('of a package or into a family of somebody else is refused', async () => {
    const checker = await packageOf('mine', '1');
    const { verifier } = await publish(checker);
    const input = { verifierId: verifier.id, name: 'x', checker };
    const answer = () => ({ status: 201, body: '' });
    const { commands } = stores.checkers;
    await expect(commands.publish(callOf(solverId), input, answer)).rejects.toMatchObject({
      code: 'DB_PACKAGE_UNKNOWN',
    });
    const row = { sha256: checker.digest, sizeBytes: 1n, entryCount: 1 };
    await stores.commands.savePackage(callOf(solverId), row, answer);
    await expect(commands.publish(callOf(solverId), input, answer)).rejects.toMatchObject({
      code: 'DB_VERIFIER_NOT_OWN',
    });
  });

  it('is withdrawn: no new problem is posed under it, and that stays so', async () => {
    const { contract } = await publish(await packageOf('yanked', '1'));
    const yank = () =>
      stores.checkers.commands.yank(callOf(ownerId), contract.id, ({ document }) => ({
        status: 200,
        body: document.yanked_at ?? '',
      }));
    const { body } = await yank();
    expect(Date.parse(body)).not.toBeNaN();
    expect((await yank()).body).toBe(body);
    await expect(openProblem(contract.id)).rejects.toMatchObject({
      code: 'CHECKER_CONTRACT_YANKED',
    });
  });

  it('is current as the highest version that is not withdrawn', async () => {
    const first = await publish(await packageOf('version', '1'));
    const second = await publish(
      await packageOf('version of another kind', '1'),
      first.contract.verifierId,
    );
    const currents = async () => {
      const { items } = await stores.checkers.reads.listPublishedContracts(
        first.contract.verifierId,
        { limit: 10, after: null },
      );
      return items.filter(({ isCurrent }) => isCurrent).map(({ id }) => id);
    };
    expect(await currents()).toEqual([second.contract.id]);
    await stores.checkers.commands.yank(callOf(ownerId), second.contract.id, () => ({
      status: 200,
      body: '',
    }));
    expect(await currents()).toEqual([first.contract.id]);
  });
});

// Keeps R-CHECKER-CURRENT.

describe('a program', () => {
  it('that waits for its fixtures, or missed one, leaves the older one current', async () => {
    const { verifier, contract, ...first } = await publish(await packageOf('c', '1'));
    const old = implementationOf({ verifier, contract, ...first });
    expect(await currentOf(contract.id)).toBeUndefined();
    await report(old.id, true);
    expect(await currentOf(contract.id)).toBe(old.id);
    const next = implementationOf(await publish(await packageOf('c', '2'), verifier.id));
    expect(await currentOf(contract.id)).toBe(old.id);
    await report(next.id, false);
    expect(await currentOf(contract.id)).toBe(old.id);
    const last = implementationOf(await publish(await packageOf('c', '3'), verifier.id));
    await report(last.id, true);
    expect(await currentOf(contract.id)).toBe(last.id);
    const { items } = await stores.checkers.reads.listImplementations(contract.id, {
      limit: 10,
      after: null,
    });
    expect(items.map(({ state }) => state)).toEqual(['CONFORMANT', 'NONCONFORMANT', 'CONFORMANT']);
  });

  it('that was replaced is published again: it is tried again, and then current again', async () => {
    const { verifier, contract, implementations } = await publish(await packageOf('n', '1'));
    const [first] = implementations;
    await report(first?.id ?? '', true);
    const next = implementationOf(await publish(await packageOf('n', '2'), verifier.id));
    await report(next.id, true);
    const again = implementationOf(await publish(await packageOf('n', '1'), verifier.id));
    expect(again.id).not.toBe(first?.id);
    expect(await currentOf(contract.id)).toBe(next.id);
    await report(again.id, true);
    expect(await currentOf(contract.id)).toBe(again.id);
  });

  it('is reported by a worker that was thought to be gone: the first report stays', async () => {
    const { id } = implementationOf(await publish(await packageOf('d', '1')));
    expect(await report(id, true)).toBe(true);
    expect(await report(id, false)).toBe(false);
    expect(await stores.checkers.reads.implementation(id)).toMatchObject({ state: 'CONFORMANT' });
    expect(await stores.checkers.work.conformanceTask(id)).toBeNull();
  });

  it('that our own trouble kept from its fixtures is FAILED, and tried again when asked', async () => {
    const { id } = implementationOf(await publish(await packageOf('e', '1')));
    const { work, commands } = stores.checkers;
    await work.endConformance(id, { kind: 'failed', problem: 'no engine' });
    expect(await stores.checkers.reads.implementation(id)).toMatchObject({ state: 'FAILED' });
    const retry = () =>
      commands.retryConformance(callOf(ownerId), id, () => ({ status: 200, body: '' }));
    await retry();
    expect(await work.conformanceTask(id)).toMatchObject({ id, state: 'PENDING' });
    await expect(retry()).rejects.toMatchObject({ code: 'DB_IMPLEMENTATION_NOT_FAILED' });
  });

  it('that is FAILED is not tried again while its package, published again, waits already', async () => {
    const checker = await packageOf('o', '1');
    const { verifier, ...first } = await publish(checker);
    const { id } = implementationOf({ verifier, ...first });
    const { work, commands } = stores.checkers;
    await work.endConformance(id, { kind: 'failed', problem: 'no engine' });
    const again = implementationOf(await publish(checker, verifier.id));
    expect(again.id).not.toBe(id);
    const retry = () =>
      commands.retryConformance(callOf(ownerId), id, () => ({ status: 200, body: '' }));
    await expect(retry()).rejects.toMatchObject({ code: 'DB_IMPLEMENTATION_NOT_FAILED' });
    await report(again.id, true);
    await retry();
    expect(await work.conformanceTask(id)).toMatchObject({ id, state: 'PENDING' });
  });
});

// Keeps R-WORKER-FENCE.

describe('a key of a system outside', () => {
  it('belongs to one system, and is retired once', async () => {
    const { commands, reads } = stores.checkers;
    const key = { fingerprint: 'f'.repeat(64), externalSystem: 'lab', publicKey: 'pem' };
    const answer = () => ({ status: 200, body: '' });
    await commands.addPartnerKey(callOf(ownerId), key, answer);
    await expect(
      commands.addPartnerKey(callOf(ownerId), { ...key, externalSystem: 'other' }, answer),
    ).rejects.toMatchObject({ code: 'DB_PARTNER_KEY_DUPLICATE' });
    await commands.retirePartnerKey(callOf(ownerId), key.fingerprint, answer);
    const [retired] = await reads.listPartnerKeys();
    await commands.retirePartnerKey(callOf(ownerId), key.fingerprint, answer);
    expect(retired?.retiredAt).not.toBeNull();
    expect(await reads.listPartnerKeys()).toEqual([retired]);
  });

  it('decides nothing that was signed in time and comes after it was retired', async () => {
    const { commands } = stores.checkers;
    const key = { fingerprint: 'e'.repeat(64), externalSystem: 'lab', publicKey: 'other pem' };
    const answer = () => ({ status: 200, body: '' });
    await commands.addPartnerKey(callOf(ownerId), key, answer);
    const published = await publish(await packageOf('r', '1'));
    const checkId = await submit(await openProblem(published.contract.id), await blobOf('x'));
    const tell = () =>
      commands.decideCheck(
        callOf(ownerId),
        {
          checkId,
          command: {
            kind: 'report',
            stage: 'yield',
            report: { result: 'verified', statement: null, evidence: null },
            reporter: { kind: 'signature', system: 'lab', key: key.fingerprint },
            evidenceProblem: null,
          },
        },
        answer,
      );
    // The stage is another one; what matters is who is refused first.
    await expect(tell()).rejects.toMatchObject({ code: 'CHECKER_CHECK_NOT_WAITING' });
    await commands.retirePartnerKey(callOf(ownerId), key.fingerprint, answer);
    await expect(tell()).rejects.toMatchObject({ code: 'DB_SUBJECT_UNKNOWN' });
  });
});
