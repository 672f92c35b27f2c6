import { checkerError } from '../errors.ts';
import { acceptEvidence } from './accept-evidence.ts';
import type { CheckStage, Decider } from './check-case.ts';
import type { CheckCommand, ExternalReport, Reporter } from './check-command.ts';
import {
  type CheckDraft,
  currentStage,
  finishStage,
  finishUnavailable,
  isOver,
  type Refusal,
  refuseState,
  type StageVerdict,
} from './check-draft.ts';
import { findTie } from './review-rules.ts';

type ReportCommand = Extract<CheckCommand, { kind: 'report' }>;
type ExternalStage = Extract<CheckStage, { kind: 'external' }>;

export function report(draft: CheckDraft, command: ReportCommand): Refusal {
  const stage = currentStage(draft);
  if (stage?.kind !== 'external')
    return refuseState(draft, `waits for a report on ${JSON.stringify(command.stage)}`);
  if (stage.key !== command.stage)
    return checkerError('CHECKER_CHECK_NOT_WAITING', {
      message: `expected a report on ${JSON.stringify(stage.key)}, which is waited for, got one on ${JSON.stringify(command.stage)}`,
    });
  const refusal = refuseReporter(draft, stage, command.reporter) ?? refuseReport(stage, command);
  if (refusal !== null) return refusal;
  finishStage(draft, stage, {
    ...decideReport(stage, command.report),
    evidence: command.report.evidence,
    decidedBy: toDecider(stage, command.reporter),
  });
  return null;
}

/** Nobody reported in time. */
export function advanceExternal(draft: CheckDraft): void {
  const stage = currentStage(draft);
  const { reportBy } = draft.check;
  if (stage?.kind !== 'external' || reportBy === null || !isOver(draft, reportBy)) return;
  finishUnavailable(draft, stage, `external system ${JSON.stringify(stage.system)}`);
}

/** Only the system itself says what it judges; what it measured may be brought by an operator who is no party. */
function refuseReporter({ problem, check }: CheckDraft, stage: ExternalStage, reporter: Reporter) {
  if (reporter.kind === 'signature') {
    if (reporter.system === stage.system) return null;
    return checkerError('CHECKER_REPORT_UNSIGNED', {
      message: `expected a report that ${JSON.stringify(stage.system)} signed, got one of ${JSON.stringify(reporter.system)}`,
    });
  }
  if (stage.ruleOwner === 'partner')
    return checkerError('CHECKER_REPORT_UNSIGNED', {
      message: `expected a report that ${JSON.stringify(stage.system)} signed, got an unsigned one`,
    });
  const tie = findTie(problem, check, reporter);
  if (tie === null) return null;
  return checkerError('CHECKER_JUDGE_PARTIAL', {
    message: `expected a reporter who is no party, got ${tie}`,
  });
}

function refuseReport(stage: ExternalStage, { evidenceProblem, report: said }: ReportCommand) {
  if (evidenceProblem !== null)
    return checkerError('CHECKER_EVIDENCE_REFUSED', {
      message: `expected evidence that satisfies the stage's evidence_schema, got ${evidenceProblem}`,
    });
  if (stage.ruleOwner === 'contract' || said.result !== null) return null;
  return checkerError('CHECKER_JUDGMENT_MISSING', {
    message: "expected the partner's judgment: verified, refuted or inconclusive; got none",
  });
}

function decideReport(
  { ruleOwner, acceptance }: ExternalStage,
  { evidence, result, statement }: ExternalReport,
): Omit<StageVerdict, 'decidedBy'> {
  if (ruleOwner === 'partner') {
    return { outcome: result ?? 'inconclusive', message: statement };
  }
  const opinion = [result, statement].filter((part) => part !== null).join(': ');
  const finding = opinion === '' ? null : opinion;
  if (acceptance === null)
    return {
      outcome: 'inconclusive',
      reason: 'STAGE_UNAVAILABLE',
      mechanism: 'a rule of acceptance',
      finding,
    };
  const { outcome, message } = acceptEvidence(acceptance, evidence);
  return { outcome, message, finding };
}

function toDecider({ ruleOwner, system }: ExternalStage, reporter: Reporter): Decider {
  if (reporter.kind === 'signature' && ruleOwner === 'partner')
    return { kind: 'partner', system, key: reporter.key };
  return {
    kind: 'contract',
    system,
    reporter: reporter.kind === 'signature' ? reporter.key : reporter.id,
  };
}
