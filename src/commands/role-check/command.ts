/**
 * `trueup role check NAME [path]`: says whether a login with a JWT would succeed, and otherwise why not. Sends only GET, and
 * with `--try` one login whose token is revoked at once. Prints neither the JWT nor the token.
 */
import { isIP } from 'node:net';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { mountName } from '../../api/cluster-auth/mount.ts';
import { findDialect } from '../../api/dialects.ts';
import { megabyte } from '../../files/read-file.ts';
import { standardInput } from '../../manifest/files/find-stack.ts';
import { hasErrors } from '../../model/diagnostic.ts';
import { type LoginCheck, type LoginReport, type LoginTrial, wouldSucceed } from '../../model/login-check.ts';
import { quoted } from '../../model/quoted.ts';
import type { Dialect, Stack, Target } from '../../model/stack.ts';
import {
  command,
  type CommandEnd,
  type CommonOptions,
  formatOption,
  stackHelp,
  timeoutOption,
} from '../../run/command-options.ts';
import { connectToRead, connectToTry } from '../../run/connect.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../../run/exit-codes.ts';
import type { CliHost } from '../../run/host.ts';
import { type LoadedManifests, loadManifests } from '../../run/load-manifests.ts';
import { readInput } from '../../run/read-input.ts';
import { readSecret } from '../../run/read-secret.ts';
import { beginRun, listenForEnd, raceStop, type RunTime } from '../../run/stop-signals.ts';
import {
  type CommandContext,
  printDiagnostics,
  printError,
  printJson,
  type Terminal,
} from '../../run/terminal.ts';
import { walkChecks } from './checks.ts';
import { chooseTarget, type ChosenRole } from './choose-target.ts';
import { parseJwt } from './parse-jwt.ts';
import { failed, passed, renderLogin, renderLoginJson } from './results.ts';
import { declaredRules, type FoundRules, liveRules } from './rules.ts';

export function defineCommand(role: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command(
    role,
    'check',
    'Tells whether a login with a JWT would succeed, check by check; exits with 2 when it would not',
  )
    .argument('<name>', 'the role')
    .argument('[path]', stackHelp)
    .requiredOption('--jwt <file>', 'the JWT of the service account; - reads it from standard input')
    .addOption(
      new Option('--against <what>', 'the role and config of the service, or those of the manifests, offline')
        .choices(['live', 'declared'])
        .default('live'),
    )
    .option('--target <name>', 'the target, where several may have the role')
    .option('--from <address>', 'the IP address that the login comes from', parseAddress)
    .option('--try', 'also log in, and revoke the token at once')
    .addOption(formatOption())
    .addOption(timeoutOption())
    .addHelpText('after', `\n${examples}`)
    .action(async (name: string, path: string | undefined, options: CommonOptions & CheckRoleOptions) => {
      end(await checkRole(name, path, { options, context: { host, terminal: terminalOf(options) } }));
    });
}

const examples = `Examples:
  trueup role check web --jwt ci.jwt
                                  against the role and config of the service
  trueup role check web --jwt ci.jwt --against declared --from 10.1.2.3
                                  offline, against the manifests, as from that address
  kubectl create token ci | trueup role check web --jwt - --try
                                  and log in as well`;

function parseAddress(text: string): string {
  if (isIP(text) === 0) throw new InvalidArgumentError('an IP address such as 10.1.2.3');
  return text;
}

interface CheckRoleOptions {
  /** a file, or `-` for standard input */
  readonly jwt: string;
  readonly against: LoginReport['against'];
  readonly target?: string;
  /** the address that the login comes from */
  readonly from?: string;
  /** also log in, and revoke the token at once */
  readonly try?: boolean;
  /** seconds */
  readonly timeout?: number;
}

async function checkRole(
  role: string,
  path: string | undefined,
  { options, context }: { readonly options: CheckRoleOptions; readonly context: CommandContext },
): Promise<ExitCode> {
  const { host, terminal } = context;
  if (path === standardInput && options.jwt === standardInput) {
    printError(terminal, 'usage', 'standard input can bring the stack or the JWT, not both');
    return exitCodes.error;
  }
  const stops = listenForEnd(host);
  try {
    const manifests = await loadManifests(path, host, { timeout: options.timeout, over: stops.over });
    const { stack, began } = manifests;
    if (stack === undefined || (options.against === 'declared' && hasErrors(manifests.diagnostics))) {
      printDiagnostics(terminal, manifests.diagnostics);
      return exitCodeOf(manifests.diagnostics) || exitCodes.error;
    }
    const time = beginRun({ stack, began }, stops, host);
    try {
      return await check({ ...manifests, stack }, { role, options, host, terminal, time, stop: stops.stop });
    } finally {
      time.deadline.clear();
    }
  } finally {
    stops.dispose();
  }
}

interface CheckContext extends CommandContext {
  readonly role: string;
  readonly options: CheckRoleOptions;
  readonly time: RunTime;
  readonly stop: AbortSignal;
}

async function check(
  manifests: LoadedManifests & { readonly stack: Stack },
  context: CheckContext,
): Promise<ExitCode> {
  const { options, terminal, role, stop } = context;
  const chosen = chooseTarget(manifests, role, options.target);
  if ('code' in chosen) {
    printError(terminal, chosen.code, chosen.message);
    return exitCodes.error;
  }
  const jwt = await readJwt(context);
  const checks = await raceStop(makeChecks(jwt, chosen, { ...context, stack: manifests.stack }), stop);
  if (checks === 'stopped') return exitCodes.interrupted;
  const trial = options.try ? await tryLogin(jwt, chosen, { ...context, stack: manifests.stack }) : undefined;
  if (trial === 'stopped') return exitCodes.interrupted;
  return report(terminal, {
    stack: manifests.stack.name,
    target: chosen.target.name,
    mount: mountOf(chosen),
    role,
    against: options.against,
    checks,
    ...(trial && { trial }),
  });
}

function mountOf({ target }: ChosenRole): string {
  return mountName(target, dialectOf(target));
}

function dialectOf(target: Target): Dialect {
  const dialect = findDialect(target.service, target.dialect);
  if (dialect === undefined) throw new Error(`no dialect ${target.dialect} for ${target.service}`);
  return dialect;
}

/** White space around it is removed: files end with a newline. @throws SecretError, InputWaitEnded */
async function readJwt({ options, host, time }: CheckContext): Promise<string> {
  const text =
    options.jwt === standardInput
      ? await readPipedJwt(host, options, time)
      : await readSecret(
          { file: options.jwt },
          { env: host.env, directory: host.cwd },
          'the JWT to log in with',
        );
  return host.secrets.keep(text);
}

async function readPipedJwt(
  host: CliHost,
  { timeout }: CheckRoleOptions,
  { over }: RunTime,
): Promise<string> {
  const input = await readInput(host, megabyte, { timeout, over });
  return Buffer.from(input).toString('utf8').trim();
}

type CheckPlace = CheckContext & { readonly stack: Stack };

async function makeChecks(jwt: string, chosen: ChosenRole, context: CheckPlace): Promise<LoginCheck[]> {
  const { options, host } = context;
  const found =
    options.against === 'live'
      ? await readLive(chosen, context)
      : declaredRules(chosen, dialectOf(chosen.target));
  const { role, config } = found;
  if (role === undefined) return [missingRole(chosen, options)];
  const attempt = { jwt, from: options.from, now: host.now() };
  const walked = walkChecks(attempt, { role, config });
  const told = options.against === 'live' ? 'the service has the role' : 'the manifests declare the role';
  return [passed('role', told), ...walked.map((check) => withPlace(check, chosen))];
}

/** Adds where the manifests have the field to change, if they declare the role or config that it belongs to. */
function withPlace(check: LoginCheck, { role, config }: ChosenRole): LoginCheck {
  const { field } = check;
  if (field === undefined) return check;
  const declared = { role, config }[field.of];
  return declared === undefined ? check : { ...check, place: declared.placeOf([field.name]) };
}

function missingRole({ name, target, role }: ChosenRole, { against }: CheckRoleOptions): LoginCheck {
  if (against === 'declared')
    return failed(
      'role',
      `no manifest declares a role ${quoted(name)} for target ${quoted(target.name)}`,
      'declare it, or correct the name',
    );
  const fix =
    role === undefined ? 'correct the name, or declare the role and apply it' : 'apply the manifests';
  return failed('role', `target ${quoted(target.name)} has no role ${quoted(name)}`, fix);
}

async function readLive(
  { target, name }: ChosenRole,
  { stack, host, time }: CheckPlace,
): Promise<FoundRules> {
  const limits = { ...time, signal: time.over };
  const connected = await connectToRead({ ...stack, targets: [target] }, host, limits);
  try {
    const [only] = connected.targets;
    if (only === undefined) throw new Error('the target was not connected');
    return await liveRules(only.openSession(), name);
  } finally {
    await connected.close();
  }
}

/** A text that is no JWT is not sent: it may be another secret. @returns undefined when none was tried */
async function tryLogin(
  jwt: string,
  { target }: ChosenRole,
  { stack, host, time, role, stop }: CheckPlace,
): Promise<LoginTrial | 'stopped' | undefined> {
  if ('problem' in parseJwt(jwt)) return undefined;
  const connection = await connectToTry(stack, target, host, { ...time, signal: time.over });
  try {
    return await raceStop(connection.tryLogin(role, jwt), stop);
  } finally {
    await connection.close();
  }
}

function report(terminal: Terminal, found: LoginReport): ExitCode {
  const { host, paint, width = 100 } = terminal;
  if (terminal.format === 'json') printJson(terminal, (reported) => renderLoginJson(found, reported));
  else host.stdout.write(`${renderLogin(found, { paint, width })}\n`);
  return wouldSucceed(found) ? exitCodes.done : exitCodes.loginRefused;
}
