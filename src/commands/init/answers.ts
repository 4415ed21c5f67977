/** Collects the answers that a first stack needs, from flags, the environment and the terminal. Writes nothing. */
import { basename } from 'node:path';
import type { ReaderConnection } from '../../api/open-target.ts';
import { dialectWithoutHeader } from '../../api/spoken-dialect.ts';
import { workspacesPath } from '../../api/workspaces/list-workspaces.ts';
import type { Stack, Target } from '../../model/stack.ts';
import type { CommonOptions } from '../../run/command-options.ts';
import { connectToRead } from '../../run/connect.ts';
import { stopOf } from '../../run/report-stop.ts';
import { beginRun, raceStop, type ReadSignals } from '../../run/stop-signals.ts';
import { type CommandContext, printNote } from '../../run/terminal.ts';
import type { SeenOrganizations, TargetFlags } from './choose-place.ts';
import { chooseTarget } from './choose-target.ts';
import type { ChosenToken } from './choose-token.ts';
import type { StackAnswers } from './stack-files.ts';
import { listOrganizations } from './overview.ts';
import { type Ci, ciNames, planWorkflow } from './pipelines.ts';
import { answerTo, type Asking } from './questions.ts';
import { nameFrom, type Surroundings } from './repository.ts';

export interface AnswerFlags extends TargetFlags, Pick<CommonOptions, 'timeout'> {
  readonly name?: string;
  readonly ci?: string;
  readonly ledger?: string;
  readonly yes?: boolean;
}

interface Collecting extends CommandContext {
  readonly stops: ReadSignals;
  /** absolute */
  readonly directory: string;
  readonly surroundings: Surroundings;
}

export interface Answers {
  readonly stack: StackAnswers;
  readonly token: ChosenToken;
  /** why the target has its dialect, as a sentence */
  readonly dialectNote?: string;
  /** texts of the workflows of trueup in the repository, which plan and apply each of its stacks */
  readonly workflows: readonly string[];
}

/** @throws CommandStop when an answer is missing or not valid */
export async function collectAnswers(flags: AnswerFlags, collecting: Collecting): Promise<Answers> {
  const { host, terminal, stops, directory, surroundings } = collecting;
  const asking: Asking = {
    host,
    canAsk: host.interactive && terminal.format === 'text',
    takesDefaults: flags.yes === true,
    stop: stops.stopStarting,
  };
  const usualName = nameFrom(basename(directory)) || 'main';
  const { target, token, dialectNote } = await chooseTarget({
    ...asking,
    flags,
    directory,
    usualName,
    note: (message) => printNote(terminal, message),
    listOrganizations: (place, found) => organizationsOf(place, found, { flags, ...collecting }),
    askDialect: (place, found) => dialectOf(place, found, { flags, ...collecting }),
  });
  // A stack of the embedded service is a trial: it takes the defaults of all other questions.
  const rest = target.url === 'embedded' ? { ...asking, takesDefaults: true } : asking;
  const name = await answerTo(
    {
      flag: '--name',
      text: 'Name of the stack',
      fallback: usualName,
      problem: (answer) =>
        /^[a-z0-9-]{1,63}$/.test(answer) ? undefined : 'lower-case letters, digits and "-", at most 63',
    },
    flags.name,
    rest,
  );
  const ci = await chooseCi(flags, surroundings, rest);
  const ledger = await chooseLedger(flags, { ci, surroundings, target }, rest);
  const stack = { name, target, ci, ledger, directory, root: surroundings.root };
  const { workflows } = surroundings;
  return { stack, token, workflows, ...(dialectNote === undefined ? {} : { dialectNote }) };
}

/** The default follows from existing CI files, else from the host of the remote. Existing files of trueup serve every stack. */
async function chooseCi(
  { ci }: AnswerFlags,
  { remote = '', ciFiles }: Surroundings,
  asking: Asking,
): Promise<Ci> {
  const hasWorkflow = ciFiles.includes(planWorkflow);
  const isGithub = !hasWorkflow && (ciFiles.includes('.github') || remote.includes('github'));
  const isGitlab = remote.includes('gitlab') && !ciFiles.includes('.gitlab-ci.yml');
  const answer = await answerTo(
    {
      flag: '--ci',
      text: 'Which CI plans and applies each change',
      choices: ciNames.map((value) => ({ value, label: value })),
      fallback: isGithub ? 'github' : isGitlab ? 'gitlab' : 'none',
    },
    ci,
    asking,
  );
  return ciNames.find((name) => name === answer) ?? 'none';
}

interface LedgerSituation {
  readonly ci: Ci;
  readonly surroundings: Surroundings;
  readonly target: Target;
}

/** Each CI job must find the ledger, so with a CI the default is the remote of the repository. */
async function chooseLedger(
  { ledger }: AnswerFlags,
  { ci, surroundings, target }: LedgerSituation,
  asking: Asking,
): Promise<string> {
  const hasJobs = ci !== 'none' || surroundings.ciFiles.includes(planWorkflow);
  const isShared = hasJobs && surroundings.remote !== undefined && target.url !== 'embedded';
  const question = {
    flag: '--ledger',
    text: 'Where is the ledger kept, the record of each apply',
    choices: [
      { value: 'local', label: 'in a file on this machine, which git ignores' },
      { value: 'git', label: 'in a ref of the remote "origin", for teams and CI' },
    ],
    fallback: isShared ? 'git' : 'local',
  };
  return answerTo(question, ledger ?? (isShared ? undefined : 'local'), asking);
}

interface Listing extends Collecting {
  readonly flags: AnswerFlags;
}

/** The organizations to choose from; none if the service does not answer. With the flag, a problem is reported when the target is read. */
async function organizationsOf(
  target: Target,
  token: ChosenToken,
  listing: Listing,
): Promise<SeenOrganizations> {
  const { flags, terminal } = listing;
  const found = await askService(target, token, listing, ({ reader }) => listOrganizations(reader));
  const { names, problem } = typeof found === 'string' ? { names: [], problem: found } : found;
  if (problem !== undefined && flags.organization === undefined)
    printNote(terminal, `the organizations cannot be listed: ${problem}`);
  return { names, isWhole: problem === undefined };
}

/** The dialect that the service shows: in its first workspace, else in the headers of another answer. */
async function dialectOf(target: Target, token: ChosenToken, listing: Listing) {
  const found = await askService(target, token, listing, async ({ reader, spokenDialect }) => {
    await reader.get(`${workspacesPath({ target })}?page%5Bsize%5D=1`);
    if (spokenDialect() !== undefined) return { spoken: spokenDialect() };
    const { status } = await reader.get('/ping');
    return { spoken: spokenDialect() ?? (status < 300 ? dialectWithoutHeader(target) : undefined) };
  });
  return typeof found === 'string' ? { problem: found } : found;
}

/** @returns the result of `ask`, or why the service could not be asked, as a clause */
async function askService<T extends object>(
  target: Target,
  { env }: ChosenToken,
  { flags, host, stops, directory }: Listing,
  ask: (connection: ReaderConnection) => Promise<T>,
): Promise<T | string> {
  const stack: Stack = {
    name: 'new',
    file: 'trueup.yaml',
    directory,
    manifests: [],
    targets: [target],
    defaults: [],
    guards: {},
    ...(flags.timeout === undefined ? {} : { timeout: flags.timeout }),
  };
  const time = beginRun({ stack }, stops, host);
  try {
    const connected = await connectToRead(stack, { ...host, env: env ?? {} }, time);
    const [first] = connected.targets;
    try {
      if (first === undefined) throw new Error('the target was not opened');
      return await raceStop(ask(first.connection), stops.stopStarting);
    } finally {
      await connected.close();
    }
  } catch (error) {
    const stop = stopOf(error);
    if (stop === undefined || stops.stopStarting.aborted) throw error;
    return stop.message;
  } finally {
    time.deadline.clear();
  }
}
