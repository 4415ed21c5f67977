/** `trueup ci`: whole jobs of a CI pipeline. */
import type { Command } from 'commander';
import { addExamples, command, type CommandEnd } from '../../run/command-options.ts';
import type { CliHost } from '../../run/host.ts';
import { defineApply } from './define-apply.ts';
import { definePlan } from './define-plan.ts';

export function defineCommand(ci: Command, host: CliHost, ends: CommandEnd): void {
  addExamples(
    ci,
    ['trueup ci plan --out-dir plans', 'in the job of a pull request'],
    ['trueup ci apply', 'in the job of the protected branch: each stack that changed'],
  );
  definePlan(
    command(ci, 'plan', 'In a pull request: plans the stacks that it changes, and reports them'),
    host,
    ends,
  );
  defineApply(
    command(ci, 'apply', 'On the protected branch: applies what was approved since the last apply'),
    host,
    ends,
  );
}
