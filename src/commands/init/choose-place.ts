/** Chooses the organization or mount that a stack manages, and checks the answers by the rules of stack files. */
import { dialects } from '../../api/dialects.ts';
import type { SpokenDialect } from '../../api/spoken-dialect.ts';
import { readTarget } from '../../manifest/read-target.ts';
import type { TargetDocument } from '../../manifest/schema/target-schema.ts';
import type { Dialect, Target } from '../../model/stack.ts';
import { nearestWord } from '../../model/nearest-word.ts';
import { quoteSome, quoted } from '../../model/quoted.ts';
import { CommandStop } from '../../run/command-stop.ts';
import type { ChosenToken, TokenWish } from './choose-token.ts';
import { answerTo, type Asking } from './questions.ts';

export interface TargetFlags extends TokenWish {
  readonly embedded?: boolean;
  readonly service?: string;
  readonly url?: string;
  readonly dialect?: string;
  readonly organization?: string;
  readonly mount?: string;
  readonly namespace?: string;
  readonly owns: readonly string[];
  readonly target?: string;
  readonly caCert?: string;
}

export interface ChoosingTarget extends Asking {
  readonly flags: TargetFlags;
  /** absolute: the directory of the stack */
  readonly directory: string;
  /** Prints a sentence about an answer. */
  readonly note: (message: string) => void;
  /** the default name of the stack */
  readonly usualName: string;
  readonly listOrganizations: (target: Target, token: ChosenToken) => Promise<SeenOrganizations>;
  /** Reads answers of the service that show its dialect; `problem`: why there are none, as a clause. */
  readonly askDialect: (
    target: Target,
    token: ChosenToken,
  ) => Promise<{ readonly spoken?: SpokenDialect | undefined; readonly problem?: string }>;
}

/** The organizations that a token sees. */
export interface SeenOrganizations {
  readonly names: readonly string[];
  /** false if the list was not read, or not to its end */
  readonly isWhole: boolean;
}

type Place = Pick<TargetDocument, 'organization' | 'mount' | 'namespace' | 'owns'>;

export async function chooseOrganization(
  choosing: ChoosingTarget,
  draft: TargetDocument,
  token: ChosenToken,
): Promise<Place> {
  const { flags, canAsk, usualName } = choosing;
  const isNeeded = canAsk || flags.organization !== undefined;
  const mayList = isNeeded && flags.connect && draft.url !== 'embedded' && token.env !== undefined;
  const seen: SeenOrganizations = mayList
    ? await choosing.listOrganizations(checkedTarget({ ...draft, organization: 'unknown' }), token)
    : { names: [], isWhole: false };
  const usual = draft.url === 'embedded' ? usualName : undefined;
  const question = {
    flag: '--organization',
    text: 'Name of the organization',
    choices: seen.names.map((value) => ({ value, label: value })),
    fallback: seen.names.length === 1 ? seen.names[0] : undefined,
    problem: (answer: string) => problemOfOrganization(answer, seen),
  };
  return { organization: await answerTo(question, flags.organization ?? usual, choosing) };
}

/** With an empty list, any name is allowed: the token of an organization may see an empty list and still read its workspaces. */
function problemOfOrganization(answer: string, { names, isWhole }: SeenOrganizations): string | undefined {
  if (!/^[\w-]+$/.test(answer)) return 'the name of an organization has letters, digits, "-" and "_" only';
  if (!isWhole || names.length === 0 || names.includes(answer)) return undefined;
  const meant = nearestWord(answer, names);
  const hint = meant === undefined ? `it sees ${quoteSome(names)}` : `did you mean ${quoted(meant)}?`;
  return `the token sees no organization of this name; ${hint}`;
}

export async function chooseMount(
  choosing: ChoosingTarget,
  draft: TargetDocument,
  { client, defaultMount }: Dialect,
): Promise<Place> {
  const { flags, host } = choosing;
  const isEmbedded = draft.url === 'embedded';
  const preset = client?.namespace === undefined ? '' : (host.env[client.namespace] ?? '');
  const namespace = await answerTo(
    {
      flag: '--namespace',
      text: 'Namespace, if the service has namespaces',
      fallback: preset.trim(),
      problem: (answer) =>
        answer === '' ? undefined : problemIn({ ...draft, namespace: answer }, 'namespace'),
    },
    flags.namespace ?? (isEmbedded ? '' : undefined),
    choosing,
  );
  const mount = await answerTo(
    {
      flag: '--mount',
      text: 'Mount of the authentication method, below "auth/"',
      fallback: defaultMount,
      problem: (answer) => problemOfMount(answer, draft),
    },
    flags.mount ?? (isEmbedded ? defaultMount : undefined),
    choosing,
  );
  const owns = await answerTo(
    {
      flag: '--owns',
      text: 'Role names that this stack owns, such as payments-*, with commas between them',
      fallback: '*',
      problem: (answer) =>
        namesIn(answer).length === 0 ? 'write a name, or a pattern such as *' : undefined,
    },
    flags.owns.length > 0 ? flags.owns.join(',') : isEmbedded ? '*' : undefined,
    choosing,
  );
  const patterns = namesIn(owns);
  return {
    mount,
    ...(namespace === '' ? {} : { namespace }),
    // "*" is written as well, because a plan lists undeclared roles only with "owns".
    owns: patterns.includes('*') ? ['*'] : patterns,
  };
}

/** A stack file may name any mount that a service allows. Here a "*" is refused: it is an answer to the next question, about roles. */
function problemOfMount(mount: string, draft: TargetDocument): string | undefined {
  if (mount === '') return 'write the name of a mount';
  if (mount.includes('*'))
    return 'a mount has one name, without "*"; patterns of role names belong to "--owns"';
  return problemIn({ ...draft, mount }, 'mount');
}

function namesIn(list: string): string[] {
  return list
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
}

// Checks members of a target by the rules of stack files.

function problemsIn(document: TargetDocument) {
  return readTarget(JSON.parse(JSON.stringify(document)), { base: [], invalid: [], dialects });
}

/** What is wrong with one member, as a clause; undefined when it is valid. */
export function problemIn(document: TargetDocument, member: string): string | undefined {
  const found = problemsIn(document).problems.find(({ path }) => path[0] === member);
  return found && [found.message, found.fix].filter((part) => part !== undefined).join('; ');
}

/** @throws CommandStop when the flags contradict each other */
export function checkedTarget(document: TargetDocument): Target {
  const { target, problems } = problemsIn(document);
  const [problem] = problems;
  if (target !== undefined) return target;
  throw new CommandStop(
    'usage',
    [problem?.message, problem?.fix].filter((part) => part !== undefined).join('; '),
  );
}
