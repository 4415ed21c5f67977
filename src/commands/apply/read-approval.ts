/** Reads the approval of an apply from the arguments: a plan file, or a digest. */
import type { DiagnosticCode } from '../../model/diagnostic-codes.ts';
import { quoted } from '../../model/quoted.ts';
import type { Approval } from '../../run/apply/check-approval.ts';
import { CommandStop } from '../../run/command-stop.ts';
import { checkIds, readIds } from '../../run/consent.ts';
import { exitCodes } from '../../run/exit-codes.ts';
import { meansPlanFile, openApprovedPlan } from '../../run/plan-file.ts';

/** What the command line names: at most one stack, and at most one approval. */
export interface ApplyRequest {
  /** path of the stack */
  readonly path?: string;
  readonly approval?: Approval;
}

interface ApprovalFlags {
  /** in lower case */
  readonly approve?: string | undefined;
  readonly again?: boolean | undefined;
  readonly ack?: string | undefined;
}

/**
 * Distinguishes plan file and stack, in any order.
 * @throws CommandStop with the reason why the apply does not begin
 */
export async function readApproval(
  paths: readonly string[],
  flags: ApprovalFlags,
  cwd: string,
): Promise<ApplyRequest> {
  try {
    const request = await readRequest(paths, flags, cwd);
    const acknowledged = readIds(flags.ack);
    checkIds(acknowledged);
    if (acknowledged.length > 0 && request.approval === undefined)
      throw new CommandStop(
        'ack-without-plan',
        '--ack is for one plan only: give its digest with --approve, or its plan file, as "trueup plan" shows them',
      );
    return request;
  } catch (error) {
    if (!(error instanceof CommandStop) || error.code === undefined) throw error;
    const isStale = staleCodes.includes(error.code);
    throw new CommandStop(error.code, `nothing was written: ${error.message}`, {
      exit: isStale ? exitCodes.stale : error.exit,
    });
  }
}

const staleCodes: readonly DiagnosticCode[] = ['plan-version', 'plan-edited', 'approval-mismatch'];

async function readRequest(
  paths: readonly string[],
  { approve: digest, again }: ApprovalFlags,
  cwd: string,
): Promise<ApplyRequest> {
  const kinds = await Promise.all(
    paths.map(async (path) => ({ path, isPlan: await meansPlanFile(path, cwd) })),
  );
  const [plan, ...morePlans] = kinds.filter(({ isPlan }) => isPlan);
  const [stack, ...moreStacks] = kinds.filter(({ isPlan }) => !isPlan);
  if (morePlans.length > 0)
    throw mistake('apply takes one plan file; to see how two differ, use "trueup diff"');
  if (moreStacks.length > 0) {
    const all = paths.map(quoted).join(' nor ');
    throw mistake(`apply takes one stack, and beside it a plan file: neither ${all} is a plan file`);
  }
  const path = stack === undefined ? {} : { path: stack.path };
  if (again === true && (plan !== undefined || digest === undefined))
    throw mistake(
      '"--again" goes with "--approve" and a digest alone; make the plan file again to approve it again',
    );
  if (plan === undefined)
    return { ...path, ...(digest === undefined ? {} : { approval: { digest, again } }) };
  const given = await openApprovedPlan(plan.path, cwd);
  if (digest !== undefined && digest !== given.plan.digest)
    throw new CommandStop(
      'approval-mismatch',
      `the plan ${quoted(given.file)} has the digest ${quoted(given.plan.digest)}, and ${quoted(digest)} was approved: apply the plan that was approved, or approve this one`,
    );
  return { ...path, approval: { digest: given.plan.digest, given } };
}

function mistake(message: string): CommandStop {
  return new CommandStop('usage', message);
}
