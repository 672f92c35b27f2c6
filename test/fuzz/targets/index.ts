import type { FuzzTarget } from '../target.ts';
import * as archive from './archive.ts';
import * as checker from './checker.ts';
import * as contractDocument from './contract-document.ts';
import * as contractText from './contract-text.ts';
import * as evidence from './evidence.ts';
import * as gitOutput from './git-output.ts';
import * as metric from './metric.ts';
import * as names from './names.ts';
import * as patterns from './patterns.ts';
import * as reports from './reports.ts';
import * as urls from './urls.ts';

export const TARGETS: readonly FuzzTarget[] = [
  metric,
  gitOutput,
  archive,
  contractText,
  contractDocument,
  patterns,
  names,
  urls,
  reports,
  evidence,
  checker,
].flatMap((module) => Object.values(module));
