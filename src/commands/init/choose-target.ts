/** Chooses the one target of a new stack: its service, address and token, and the organization or mount. */
import { realpathSync } from 'node:fs';
import { isAbsolute, relative, resolve } from 'node:path';
import { dialectNames, dialects, findDialect } from '../../api/dialects.ts';
import { dialectOfHost } from '../../api/spoken-dialect.ts';
import { slashes } from '../../manifest/files/find-stack.ts';
import type { TargetDocument } from '../../manifest/schema/target-schema.ts';
import { clearText, sendsInClear } from '../../model/http.ts';
import { orList, quoted } from '../../model/quoted.ts';
import type { ClientSettings, Dialect, Service, Target } from '../../model/stack.ts';
import { CommandStop } from '../../run/command-stop.ts';
import { addressesIn, chooseToken, type ChosenToken, findTokens } from './choose-token.ts';
import { answerTo, type Asking, type Choice } from './questions.ts';
import { nameFrom } from './repository.ts';
import {
  checkedTarget,
  chooseMount,
  chooseOrganization,
  type ChoosingTarget,
  problemIn,
  type TargetFlags,
} from './choose-place.ts';

interface ChosenTarget {
  readonly target: Target;
  readonly token: ChosenToken;
  /** why it has this dialect, as a sentence; absent for the embedded service and for cluster-auth, where the dialect is only chosen */
  readonly dialectNote?: string;
}

/** @throws CommandStop when an answer is missing or not valid */
export async function chooseTarget(choosing: ChoosingTarget): Promise<ChosenTarget> {
  const { flags, host } = choosing;
  const { service, isEmbedded } = await chooseService(choosing);
  const dialect = await chooseDialect(choosing, service, isEmbedded);
  const url = isEmbedded ? 'embedded' : await chooseUrl(choosing, dialect);
  const token = isEmbedded ? { env: host.env, notes: [] } : await tokenFor(choosing, url, dialect);
  const draft: TargetDocument = {
    name: 'new',
    service,
    url,
    dialect: dialect.name,
    ...(token.source === undefined ? {} : { token: token.source }),
    ...(flags.caCert === undefined ? {} : { caCert: { file: fromStack(flags.caCert, choosing) } }),
  };
  const members =
    service === 'workspaces'
      ? await chooseOrganization(choosing, draft, token)
      : await chooseMount(choosing, draft, dialect);
  const { organization, mount } = members;
  const name = flags.target ?? (nameFrom(organization ?? mount ?? '') || service);
  if (!/^[a-z0-9-]+$/.test(name))
    throw new CommandStop('usage', '--target: lower-case letters, digits and "-"');
  const document = { ...draft, ...members, name };
  const { name: spoken, note } = await confirmDialect(choosing, checkedTarget(document), { dialect, token });
  return {
    target: checkedTarget({ ...document, dialect: spoken }),
    token,
    ...(note === undefined ? {} : { dialectNote: note }),
  };
}

interface ConfirmedDialect {
  readonly name: string;
  readonly note?: string;
}

/** The dialect that the answers of the service show, else the chosen one. @throws CommandStop if a flag names another dialect */
async function confirmDialect(
  { flags, askDialect }: ChoosingTarget,
  target: Target,
  { dialect, token }: { readonly dialect: Dialect; readonly token: ChosenToken },
): Promise<ConfirmedDialect> {
  const { name, service } = dialect;
  if (target.url === 'embedded' || service !== 'workspaces') return { name };
  const mayAsk = flags.connect && token.env !== undefined;
  const { spoken, problem } = mayAsk
    ? await askDialect(target, token)
    : { spoken: dialectOfHost(target), problem: 'nothing was sent to the service' };
  const withNote = (written: string, why: string) => ({
    name: written,
    note: `The target has ${quoted(`dialect: ${written}`)}: ${why}.`,
  });
  if (spoken === undefined) {
    const chosen = flags.dialect === undefined ? 'the usual dialect of workspaces' : 'as "--dialect" says';
    return withNote(name, `${chosen}; it is not confirmed, because ${problem ?? 'no answer shows it'}`);
  }
  if (spoken.dialect.name === name) return withNote(name, spoken.sign);
  if (flags.dialect === undefined) return withNote(spoken.dialect.name, spoken.sign);
  if (!spoken.isCertain)
    return withNote(name, `as "--dialect" says; it is not confirmed, because ${spoken.sign}`);
  throw new CommandStop(
    'usage',
    `nothing was written: "--dialect" is ${quoted(name)}, and the service speaks ${quoted(spoken.dialect.name)}: ${spoken.sign}; pass ${quoted(`--dialect ${spoken.dialect.name}`)}, or leave the flag out`,
  );
}

// The service and its dialect.

async function chooseService(
  choosing: ChoosingTarget,
): Promise<{ readonly service: Service; readonly isEmbedded: boolean }> {
  const { flags, host } = choosing;
  const isEmbedded = flags.embedded === true || flags.url?.trim() === 'embedded';
  if (flags.embedded === true && flags.url !== undefined && flags.url.trim() !== 'embedded')
    throw new CommandStop('usage', 'give "--url" or "--embedded", and not both');
  const choices: Choice[] = [
    { value: 'workspaces', label: `workspaces of ${productsOf('workspaces')}` },
    { value: 'cluster-auth', label: `cluster authentication roles of ${productsOf('cluster-auth')}` },
    ...(isEmbedded || flags.url !== undefined
      ? []
      : [{ value: 'embedded', label: 'workspaces of the embedded service: a trial without an account' }]),
  ];
  const fallback = serviceOf(flags) ?? (isEmbedded ? 'workspaces' : serviceIn(host.env));
  const question = { flag: '--service', text: 'What does the stack manage', choices, fallback };
  const answer = await answerTo(question, flags.service ?? serviceOf(flags), choosing);
  if (answer === 'embedded') return { service: 'workspaces', isEmbedded: true };
  return { service: answer === 'workspaces' ? answer : 'cluster-auth', isEmbedded };
}

/** The service that follows from flags that only one service has. */
function serviceOf({ organization, mount, namespace, owns }: TargetFlags): Service | undefined {
  if (organization !== undefined) return 'workspaces';
  return mount !== undefined || namespace !== undefined || owns.length > 0 ? 'cluster-auth' : undefined;
}

/** The service whose command line is set up in this environment, if there is exactly one. */
function serviceIn(env: Asking['host']['env']): Service | undefined {
  const services: readonly Service[] = ['workspaces', 'cluster-auth'];
  const configured = services.filter((service) =>
    clientsOf(service).some((client) => addressesIn(client, env).length > 0 || env[client.token]),
  );
  return configured.length === 1 ? configured[0] : undefined;
}

function realDialects(service: Service): Dialect[] {
  return [...dialects.values()].filter((one) => one.service === service && one.client !== undefined);
}

function clientsOf(service: Service): ClientSettings[] {
  return realDialects(service).flatMap(({ client }) => client ?? []);
}

function productsOf(service: Service): string {
  return orList(realDialects(service).map(({ spokenBy }) => spokenBy));
}

async function chooseDialect(
  choosing: ChoosingTarget,
  service: Service,
  isEmbedded: boolean,
): Promise<Dialect> {
  const { flags, host } = choosing;
  const real = realDialects(service);
  const configured = real.filter(({ client }) => host.env[client?.addresses[0] ?? '']);
  const candidates = configured.length === 1 ? configured : real;
  const usual = isEmbedded ? 'neutral' : candidates.length === 1 ? candidates[0]?.name : undefined;
  const question = {
    flag: '--dialect',
    text: 'Which product is it',
    choices: real.map(({ name, spokenBy }) => ({ value: name, label: spokenBy })),
    fallback: usual,
    problem: (answer: string) =>
      findDialect(service, answer) === undefined
        ? `choose one of ${dialectNames(service).map(quoted).join(', ')}`
        : undefined,
  };
  // With one choice, or for the embedded service, no question is needed.
  const given = flags.dialect ?? (isEmbedded || real.length === 1 ? usual : undefined);
  const answer = await answerTo(question, given, choosing);
  const dialect = findDialect(service, answer);
  if (dialect === undefined) throw new Error(`no dialect ${answer} for ${service}`);
  return dialect;
}

// The address and the token.

async function chooseUrl(choosing: ChoosingTarget, { client, service, name }: Dialect): Promise<string> {
  const [fallback = client?.defaultAddress] =
    client === undefined ? [] : addressesIn(client, choosing.host.env);
  const question = {
    flag: '--url',
    text: 'Address of the service',
    fallback,
    problem: (answer: string) => {
      const url = withScheme(answer);
      if (answer === '' || url === 'embedded') return 'write an address such as https://app.example.com';
      if (service === 'workspaces' && /^\/app(?:\/|$)/.test(URL.canParse(url) ? new URL(url).pathname : ''))
        return 'this is the address of a web page; leave out everything behind the host';
      return problemIn({ name: 'new', service, url, dialect: name, token: { env: 'TOKEN' } }, 'url');
    },
  };
  const answer = await answerTo(question, choosing.flags.url, choosing);
  const url = normalized(withScheme(answer));
  if (withScheme(answer) !== answer)
    choosing.note(`the address has no scheme, so it is read as ${quoted(url)}`);
  if (sendsInClear(url)) choosing.note(`${clearText.message}; use "https://"`);
  return url;
}

function withScheme(address: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(address) ? address : `https://${address}`;
}

/** The address in the form that the connection uses, so that reviewers see the same one: host in lower case and ASCII, no default port. */
function normalized(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}

async function tokenFor(
  choosing: ChoosingTarget,
  url: string,
  { client, service }: Dialect,
): Promise<ChosenToken> {
  const found = await findTokens(clientsOf(service), choosing.host);
  const usual = client?.token ?? 'SERVICE_TOKEN';
  const place = { url, usual, found, fileName: (path: string) => fromStack(path, choosing) };
  return chooseToken(choosing.flags, place, choosing);
}

/** Makes a path that was typed in the working directory relative to the directory of the stack file. */
function fromStack(path: string, { host, directory }: ChoosingTarget): string {
  if (isAbsolute(path) || path.startsWith('~')) return path;
  const cwd = realpathSync(host.cwd);
  return cwd === directory ? path : slashes(relative(directory, resolve(cwd, path)));
}
