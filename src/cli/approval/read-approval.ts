/** Reads the arguments of `apply`: a stack, and its approval by a plan file or by a digest. */
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { printError, type Terminal } from '../terminal/terminal.ts';
import {
  isRefusal,
  meansPlanFile,
  openPlanFile,
  type PlanFile,
  type PlanFileRefusal,
  refuseFormerDigest,
} from './plan-file.ts';
import { quoted } from '../../model/quoted.ts';

/** What the command line names: at most one stack, and at most one approval. */
export interface ApplyRequest {
  /** path of the stack */
  readonly path?: string;
  readonly approval?: Approval;
}

export interface Approval {
  readonly digest: string;
  /** the plan file, when the approval is one */
  readonly given?: PlanFile;
  /** a digest alone is approved again after an apply of it has ended well */
  readonly again?: boolean | undefined;
}

/**
 * Distinguishes plan file and stack, in any order.
 * @param flags.approve in lower case
 */
export async function readApproval(
  paths: readonly string[],
  { approve: digest, again }: { readonly approve?: string | undefined; readonly again?: boolean | undefined },
  cwd: string,
): Promise<ApplyRequest | PlanFileRefusal> {
  const kinds = await Promise.all(
    paths.map(async (path) => ({ path, isPlan: await meansPlanFile(path, cwd) })),
  );
  const [plan, ...morePlans] = kinds.filter(({ isPlan }) => isPlan);
  const [stack, ...moreStacks] = kinds.filter(({ isPlan }) => !isPlan);
  if (morePlans.length > 0)
    return mistake('apply takes one plan file; to see how two differ, use "trueup diff"');
  if (moreStacks.length > 0) {
    const all = paths.map(quoted).join(' nor ');
    return mistake(`apply takes one stack, and beside it a plan file: neither ${all} is a plan file`);
  }
  const path = stack === undefined ? {} : { path: stack.path };
  if (again === true && (plan !== undefined || digest === undefined))
    return mistake(
      '"--again" goes with "--approve" and a digest alone; a plan file counts again once it is made anew',
    );
  if (plan === undefined)
    return { ...path, ...(digest === undefined ? {} : { approval: { digest, again } }) };
  const given = await openPlanFile(plan.path, cwd);
  if (isRefusal(given)) return given;
  const former = refuseFormerDigest(given);
  if (former !== undefined) return former;
  if (digest !== undefined && digest !== given.plan.digest) {
    return stale(
      `the plan ${quoted(given.file)} has the digest ${quoted(given.plan.digest)}, and ${quoted(digest)} was approved: apply the plan that was approved, or approve this one`,
    );
  }
  return { ...path, approval: { digest: given.plan.digest, given } };
}

function mistake(message: string): PlanFileRefusal {
  return { code: 'usage', exit: exitCodes.error, message };
}

function stale(message: string): PlanFileRefusal {
  return { code: 'approval-mismatch', exit: exitCodes.stale, message };
}

/** Reports why an apply does not begin. */
export function reportRefusal({ code, message, exit }: PlanFileRefusal, terminal: Terminal): ExitCode {
  printError(terminal, code, `nothing was written: ${message}`);
  return exit;
}
