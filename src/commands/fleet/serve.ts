/** `trueup fleet serve`: a worker with a web console. */
import { messageOf } from '../../model/error-message.ts';
import { quoted } from '../../model/quoted.ts';
import { maskUrls } from '../../redaction/mask-text.ts';
import { CommandStop } from '../../run/command-stop.ts';
import type { ExitCode } from '../../run/exit-codes.ts';
import type { CliHost } from '../../run/host.ts';
import { type CommandContext, textOutput } from '../../run/terminal.ts';
import { isLoopback } from './console/networks.ts';
import { secretsProblem } from './console/oidc-settings.ts';
import { openReader } from './database.ts';
import { jobSchema } from './tables.ts';
import type { ListenAddress } from './webhooks.ts';
import { type ServedWorker, work, type WorkOptions } from './work.ts';

export interface ServeOptions extends WorkOptions {
  readonly listen: ListenAddress;
}

export const defaultListen: ListenAddress = { host: '127.0.0.1', port: 8090 };

/** A worker that has not read the schedule for this many milliseconds is not healthy. */
const maxReadAge = 60_000;

/** The environment variable with the bearer token for metrics. */
const metricsVariable = 'TRUEUP_FLEET_METRICS_TOKEN';

export function serve(
  file: string | undefined,
  { listen, ...options }: ServeOptions,
  { host, terminal }: CommandContext,
): Promise<ExitCode> {
  return work(file, options, {
    ...{ host, terminal, once: false },
    serve: async (worker) => {
      const served = await open(listen, worker, host);
      textOutput(terminal)?.write(`the console is at ${served.url}\n`);
      return served;
    },
  });
}

async function open(listen: ListenAddress, { file, lastScheduleRead }: ServedWorker, host: CliHost) {
  if (!isLoopback(listen.host) && file.fleet.console === undefined)
    throw new CommandStop(
      'usage',
      `other machines can reach ${listen.host}, and fleet.yaml does not say who may read the console: write spec.console, or listen on 127.0.0.1`,
    );
  const secret = (variable: string): string | undefined => {
    const value = host.env[variable] || undefined;
    if (value !== undefined) host.secrets.keep(value);
    return value;
  };
  const { oidc } = file.fleet.console ?? {};
  const problem = oidc && secretsProblem(oidc, secret);
  if (problem !== undefined)
    throw new CommandStop('usage', `users could not log in at the console: ${problem}`);
  const reader = openReader(host);
  const metricsToken = secret(metricsVariable);
  try {
    const { startConsole } = await import('./console/start-console.ts');
    const { url, close } = await startConsole({
      ...{ ...listen, jobSchema, metricsToken, secret, now: host.now, newId: host.newId },
      read: (work) => reader.run(work),
      fleet: () => ({
        name: file.fleet.name,
        console: file.fleet.console,
        addressOf: (name) => {
          const repository = file.fleet.repositories.find((one) => one.name === name);
          return repository === undefined ? undefined : maskUrls(repository.url);
        },
      }),
      healthProblem: () => {
        const last = lastScheduleRead();
        if (last === undefined) return 'the worker has not read the schedule yet';
        return host.now() - last > maxReadAge
          ? 'the worker has not read the schedule for a minute'
          : undefined;
      },
      onFailure: (error) => void host.stderr.write(`warning: a page failed: ${messageOf(error)}\n`),
    });
    return {
      url,
      close: async () => {
        await close();
        await reader.close();
      },
    };
  } catch (error) {
    await reader.close();
    throw error instanceof Error && 'syscall' in error && error.syscall === 'listen'
      ? new CommandStop(
          'port-unavailable',
          `${quoted(`${listen.host}:${listen.port}`)} cannot be listened on: ${messageOf(error)}`,
        )
      : error;
  }
}
