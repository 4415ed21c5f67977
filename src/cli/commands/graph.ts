/** `trueup graph [path]`: draws which change of a plan waits for which, as Mermaid. Of a stack it makes the plan, like `plan`. */
import type { CommandContext } from '../command-context.ts';
import type { ExitCode } from '../exit-codes.ts';
import { meansPlanFile } from '../approval/plan-file.ts';
import { plan, type PlanOptions } from './plan.ts';
import { show } from './show.ts';

/** @param context its terminal has the format `mermaid` */
export async function graph(
  path: string | undefined,
  options: Pick<PlanOptions, 'complete' | 'timeout'>,
  context: CommandContext,
): Promise<ExitCode> {
  const isFile = path !== undefined && (await meansPlanFile(path, context.host.cwd));
  return isFile ? show(path, {}, context) : plan(path, options, context);
}
