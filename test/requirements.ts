/** What the product promises, each cited by the tests that hold it: a line `// Keeps R-…` above a test or a suite. */
export const REQUIREMENTS = {
  'R-SETUP-NOTHING':
    'The two commands bring engine, images and packages with them, and repair what was interrupted.',
  'R-CONTRACT-STRICT': 'A contract is read strictly; its digest names its canonical form.',
  'R-APPROVAL-ALL': 'Approval gives every finding at once, each with a code, a place and a fix.',
  'R-APPROVAL-TIME': 'No benchmark that reduces to elapsed time is approved, in any spelling.',
  'R-APPROVAL-BULLETS':
    'Every known way to write an undecidable contract is refused with its own code, at its place.',
  'R-APPROVAL-NO-FALSE-ALARM':
    'What only looks like such a mistake is approved: a false alarm is a fault.',
  'R-APPROVAL-STATUS':
    'No command that can not fail, or hides its status, is approved as a criterion.',
  'R-INTAKE-EXACT':
    'Exactly the commit asked for is judged, and its workspace is its tree to the byte.',
  'R-INTAKE-URL': 'Git is never led to an address or by a protocol that the policy does not allow.',
  'R-INTAKE-BOUNDED':
    'Bytes, objects, memory and time of git are bounded, and what exceeds them is no fault of ours.',
  'R-INTAKE-KEPT':
    'A commit that was captured can be judged again, whatever its repository does afterwards.',
  'R-POLICY-DIFF':
    'Every change counts: a rename twice, a mode, a link, a submodule, a name in any spelling.',
  'R-POLICY-SETUP':
    'What a solver may not change or add is as committed when a criterion starts, whatever ran in set-up.',
  'R-HOST-NO-TREE': 'No working tree of a solver’s ever exists on the host.',
  'R-SANDBOX-WALLS':
    'A run has no network, no capability, no writable root and no limit that it can lift.',
  'R-THREATS-ALL':
    'Every attack that is known has a row in the catalogue, and a test that carries it out.',
  'R-READERS-HOLD':
    'No input breaks a reader, keeps it for ever, or is taken where a plain reading would refuse it.',
  'R-HOST-SAFE':
    'Whatever twenty hostile submissions do, the host has its memory, disk and processes back when they end.',
  'R-SANDBOX-FRESH':
    'Every criterion starts from the set-up’s result in a fresh container, and can not change it.',
  'R-SANDBOX-SAME': 'How a workspace is made changes no verdict.',
  'R-SANDBOX-INPUTS':
    'No run changes what it may only read, and a change from outside is seen in its digest.',
  'R-SANDBOX-APART':
    'A check that runs apart is out of reach of the code that it starts: its package, memory, files and streams.',
  'R-SANDBOX-FACTS': 'What ended a run is told by facts of ours, not by what the run says.',
  'R-METRIC-ONE': 'A metric is one exact line of the whole output of a command that ended well.',
  'R-JUDGE-PROBE':
    'A judge sees what the probe left and nothing else of the solver’s; a solver’s code sees nothing of the judge’s.',
  'R-CHECKER-CRITERION':
    'Of a commit a checker decides by named files alone: verified passes, refuted fails, and all else pays and refuses nobody.',
  'R-INPUTS-MEASURED':
    'A verdict rests on checkout, package and dependencies that were the same after the runs as before them.',
  'R-COMPLETION-TOKEN':
    'A metric that asks for it counts only where the last line shows the token of this run.',
  'R-VERDICT-CLOSED':
    'Missing evidence is never a pass, and a failure that was seen is never hidden.',
  'R-VERDICT-OURS':
    'Trouble of ours is ERROR, a broken contract is INCONCLUSIVE, and a solver can choose neither.',
  'R-VERDICT-TIME': 'A time-out counts only when it repeats with nothing beside it.',
  'R-SAME-RESULT':
    'A commit verified again gives the same result, apart from the fields that are documented as volatile.',
  'R-HIDDEN-APART': 'The hidden package is in the containers of hidden criteria and in no other.',
  'R-CLI-CODES':
    'Each command ends with the exit status of its outcome, and says what was wrong and how to mend it.',
  'R-CLI-STOP': 'A stopped command leaves no container, volume, process or temporary file.',
  'R-BAD-INPUT': 'Bad input gives one clear line with a stable code, and leaves nothing behind.',
  'R-DEPS-SAME':
    'Equal pins make equal bundles, byte for byte, on every machine and in whatever order they come.',
  'R-DEPS-PINNED':
    'Nothing is packed but the bytes that a lock file or a hash names, whatever a registry serves.',
  'R-DEPS-OFFLINE': 'What a bundle pins can be installed in a run, which has no network.',
  'R-COUNT-EXACT':
    'Counted work is the same number in every run: blocks, opcodes and the heap of Node to the last unit, bytes of Python and instructions within the tolerance that docs/contracts.md names.',
  'R-COUNT-NO-LESS':
    'Whatever code under test does, a right answer counts no less than the work that it took.',
  'R-CHECKER-LINT':
    'Lint tells all that is wrong with a checker package at once: file, place, code and fix; a published contract keeps its words.',
  'R-CHECKER-PROTOCOL':
    'A checker decides by what it had written when it ended; each way to go wrong has its own code, and none of them refutes.',
  'R-CHECKER-CONFORMANCE':
    'A checker package that misses one of its fixtures, in containers as they judge, verifies nothing.',
  'R-CHECKER-CURRENT':
    'A published program that waits for its fixtures, or missed one, replaces none that conforms; our own trouble is never its fault.',
  'R-CHECKER-SCHEMA':
    'No JSON Schema of an author’s hangs, kills or leaves the thread that checks with it.',
  'R-FIXTURES':
    'Each honest commit of the fixtures passes and each cheat fails for its own reason, with equal SHAs everywhere.',
  'R-QUEUE-AT-LEAST-ONCE':
    'What somebody waits for is delivered until it is done, whoever dies, and to one worker at a time.',
  'R-QUEUE-FAIR': 'Nobody’s first submission waits for all of somebody else’s.',
  'R-PROVE-STEPS':
    'Proving refuses what only execution can show, each finding with its place, its evidence and a fix.',
  'R-PROVE-CHEATS':
    'Commits that do not solve the task, made of the contract’s own proof, must all fail before it opens.',
  'R-PROVED-FIRST':
    'No money comes to a contract that was not proved as it stands: any edit makes it a draft again.',
  'R-WORKER-CRASH': 'A worker killed at any point loses no submission and doubles none.',
  'R-WORKER-FENCE': 'A worker that lost its job ends it, and what it says later changes nothing.',
  'R-WORKER-PATIENCE':
    'Nobody’s slow server and nobody’s slow command keeps a worker from capturing the commits of others.',
  'R-WORKER-DRAIN':
    'A worker that is told to end ends or gives back what it has, and loses no try.',
  'R-WORKER-SICK': 'A worker whose engine or disk is sick takes no work, says so and recovers.',
  'R-HIDDEN-UNTOLD':
    'Of a hidden criterion a solver learns its status and reason, and no more from any answer, size or time.',
  'R-SCHEDULE-HARMLESS':
    'Ticks that are missed, early, doubled or at once change nothing but how soon things happen.',
  'R-DAEMON-NOTHING':
    'One command brings up everything with nothing to configure, and shows the operator’s key once.',
  'R-LIFE':
    'From draft to payout the states and balances of a contract are those that can be computed by hand.',
  'R-RAIL-ONCE': 'A payout by a rail outside is paid once, whenever the rail or we die.',
  'R-SETTLE-ONCE':
    'Reward and bonds move once, whoever asks at the same time or again, and never before their time.',
  'R-SETTLE-ORDER': 'The earliest received submission that passes wins, whatever finishes first.',
  'R-SETTLE-WINDOW':
    'A challenge counts only before the window closes, settlement only from then on, and nobody judges the own case.',
  'R-SETTLE-FENCE': 'A late result of an older attempt changes nothing.',
  'R-SETTLE-EXIT':
    'Every contract comes to an end by time alone, and then no money is left in escrow or in a bond.',
  'R-SUBMIT-ALIKE': 'The short way to submit takes and refuses what the rules of settlement do.',
  'R-DATABASE-TIME':
    'Whoever waits for a contract is judged by the database’s time at which the lock was had, and by no other clock.',
  'R-ANSWER-ONCE':
    'Equal requests with one key are one, and get the same answer; others are refused.',
  'R-COMMIT-WHOLE': 'Whatever dies while a command is stored, all of it is stored or nothing.',
  'R-EVENTS-COMPLETE':
    'Who reads events from a cursor on misses none, in whatever order their transactions commit.',
  'R-BLOB-WHOLE':
    'Kept bytes are found whole or not at all, and are those that their digest names.',
  'R-LEDGER-ZERO':
    'By currency all accounts add up to zero, none is overdrawn, and no record can be changed unseen.',
  'R-DB-RULES': 'A wrong row is refused by the database itself, whoever writes it.',
  'R-DB-MIGRATE':
    'The tables are brought up to date offline and whole, by any number of programs at once, and never by an older one.',
  'R-DB-EMBEDDED':
    'The built-in PostgreSQL keeps what it acknowledged, is found again after any kill, and ends with its last user.',
  'R-API-SIGHT':
    'Nobody sees another’s draft, package, hidden answers, undecided commit, evidence or money.',
  'R-API-STRICT':
    'What is not exactly as documented is refused with its place, in bounded time and memory.',
  'R-API-ONCE': 'The same request with the same key is one deed and one answer, byte for byte.',
  'R-UPLOAD-BOUNDED':
    'An upload of any size has the digest of its content, and is never held in memory as a whole.',
  'R-API-STREAM':
    'A watcher misses no event, gets none twice, and never holds up the server or its end.',
  'R-EVIDENCE-SEALED':
    'No verdict of a run is sealed without signed evidence, and none with a key that is retired.',
  'R-EVIDENCE-SIGHT':
    'Evidence tells nobody of what is hidden, and names no commit before it may be known.',
  'R-AUDIT-CHAIN':
    'What decides about money is in a chain of hashes, and a change of it past every rule is found.',
  'R-EVIDENCE-RECORD':
    'An evaluation says passed only where every declared check is reported once and passed, and nothing else is wrong.',
  'R-EVIDENCE-SIGNED':
    'An attestation is believed for one commit, contract, verifier and repository, under a key in use, and in no other form.',
  'R-EVIDENCE-BUNDLE':
    'Of a bundle no byte can be changed, added, left out or moved, and outsiders learn nothing hidden from theirs.',
  'R-EVIDENCE-REPLAY':
    'A bundle alone is enough to run its commit again elsewhere, and every field that comes out otherwise is told.',
  'R-EVIDENCE-KEYS':
    'A signer has one key in use, private to its owner, and what a retired one signed stays checkable.',
  'R-CHECK-EXIT':
    'A check goes from stage to stage only when the one before is verified, and every state of it has an exit.',
  'R-CHECK-FENCE': 'A late word of an older attempt at a stage changes nothing.',
  'R-REVIEW-ORDER':
    'What judgments come to does not depend on their order, and is told early only where no other could change it.',
  'R-REVIEW-PARTIES':
    'No seat is for the solver, the owner, whom either brought in, a rival, or an operator who acted for the owner.',
  'R-REPORT-SIGNED':
    "A partner's judgment counts only with its signature over all that it says and is about.",
  'R-SEALED-BYTES':
    'Sealed bytes, and words that could tell them, reach only the owner and the stages that select them until release.',
  'R-SEALED-ENTRIES':
    'Independent entries are hidden from others until the cutoff, and then only those that were nominated are judged.',
} as const;

export type RequirementId = keyof typeof REQUIREMENTS;
