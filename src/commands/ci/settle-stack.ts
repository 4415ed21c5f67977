/**
 * What an apply of a commit begins with: the commits since the last apply, and the stricter of the settings of then and now, so that
 * nothing that was merged since loosens its own apply.
 */
import { basename, join } from 'node:path';
import { dialects } from '../../api/dialects.ts';
import { type CommitRange, commitsSince } from '../../ledger/git/commits-since.ts';
import { fileAtCommit } from '../../ledger/git/file-at-commit.ts';
import type { GitContext } from '../../ledger/git/git-command.ts';
import { checkSources } from '../../manifest/check-secret-sources.ts';
import { readManifests } from '../../manifest/read-manifests.ts';
import { approvalMethods, type ApprovalRules } from '../../model/approval.ts';
import { formatAddress } from '../../model/address.ts';
import { quoted } from '../../model/quoted.ts';
import type { Stack } from '../../model/stack.ts';
import { stricterOf } from '../../plan/loosened.ts';
import { CommandStop } from '../../run/command-stop.ts';
import { exitCodes } from '../../run/exit-codes.ts';
import type { CliHost } from '../../run/host.ts';
import type { SettledStack, SettleInput } from '../../run/prepare-run.ts';
import { type RangeAuthors, readRangeAuthors } from './signature-source.ts';

export interface ApplyScope {
  readonly settled: SettledStack;
  /** the commit that is applied */
  readonly head: string;
  /** of its approvals: those of an apply that has not ended well count as well */
  readonly range: CommitRange;
  readonly rules: ApprovalRules;
  /** the clone */
  readonly at: GitContext;
  readonly authors: RangeAuthors;
  /** of the stack file, from the root of the repository */
  readonly path: string;
  /** the same at the base; undefined if there was no stack */
  readonly pathBefore: string | undefined;
}

/** @throws CommandStop, LedgerError: without a clean commit or its history, nothing is applied */
export async function settleStack(
  stack: Stack,
  about: SettleInput,
  { host, path }: { readonly host: CliHost; readonly path: string | undefined },
): Promise<ApplyScope> {
  const { ledger, signal } = about;
  const { head, repository } = cleanCommit(about);
  const at = { directory: stack.directory, env: host.env, secrets: host.secrets, signal };
  const since = ledger.approved?.since ?? ledger.commit?.id;
  const { range, inspected: authors } = await commitsSince(at, {
    ...{ since, head },
    inspect: readRangeAuthors,
  });
  const stackPath = ledger.repository?.path ?? repository.path;
  const text = range.base === undefined ? undefined : await fileAtCommit(at, range.base, stackPath);
  const before = text === undefined ? undefined : await readBefore(text, stack, { host, path });
  if (text !== undefined && before === undefined)
    throw new CommandStop(
      'commit-needed',
      `nothing was written: the stack file ${quoted(stackPath)} of commit ${range.base}, which was applied last, is not valid, so it is not known which approvals it asked for; apply once with "trueup apply"`,
    );
  const settled = before === undefined ? { stack, loosened: [] } : stricterOf(before, stack);
  refuseSources(settled.stack, about, host);
  const rules = settled.stack.approvals ?? {};
  return {
    ...{ settled, head, range, at, authors },
    rules: before === undefined ? withMethod(rules) : rules,
    path: repository.path,
    pathBefore: before === undefined ? undefined : stackPath,
  };
}

/** @throws CommandStop where the files of the stack are not those of a commit */
function cleanCommit({ from, repository }: SettleInput) {
  if (from.commit === undefined || repository === undefined) {
    const why = from.commit === undefined ? from.why : 'git cannot be run';
    throw new CommandStop('commit-needed', `nothing was written: the commit is not known: ${why}`);
  }
  if (from.uncommitted !== undefined && from.ignored !== true)
    throw new CommandStop(
      'commit-needed',
      `nothing was written: files of the stack have changes that are not in commit ${from.commit}`,
    );
  return { head: from.commit, repository };
}

/** A new stack cannot say by itself that it needs no approval. */
function withMethod(rules: ApprovalRules): ApprovalRules {
  return rules.accept?.includes('none') === true ? { ...rules, accept: approvalMethods } : rules;
}

/** The stack as its file was at an earlier commit; undefined where that is not valid. */
async function readBefore(
  text: string,
  { directory, file }: Stack,
  { host, path }: { readonly host: CliHost; readonly path: string | undefined },
): Promise<Stack | undefined> {
  const { stack } = await readManifests({
    ...(path === undefined ? {} : { path }),
    cwd: host.cwd,
    userId: host.machine().userId,
    drafts: new Map([[join(directory, basename(file)), text]]),
    replacementText: '',
    kinds: host.kinds,
    dialects,
  });
  return stack;
}

/** The manifests were checked with the limits of the stack file, which may be wider than before. */
function refuseSources(stack: Stack, { manifests }: SettleInput, { kinds }: CliHost): void {
  for (const { address, spec } of manifests.resources) {
    const kind = kinds.get(address.kind);
    const [problem] = kind === undefined ? [] : checkSources(kind, spec, stack);
    if (problem !== undefined)
      throw new CommandStop(
        'plan-problems',
        `nothing was written: ${formatAddress(address)}: ${problem.message}, as it was at the last apply; apply the wider limits first by themselves`,
        { exit: exitCodes.invalid },
      );
  }
}
