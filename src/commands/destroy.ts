/** `trueup destroy`, which does not exist: explains how to remove resources. */
import type { Command } from 'commander';

/** A hidden command for users of other tools: it takes any arguments, and only says what to do instead. */
export function explainDestroy(program: Command): void {
  const command = program.command('destroy', { hidden: true });
  command
    .showHelpAfterError(false)
    .helpOption(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .configureHelp({ formatHelp: () => `${destroyAdvice}\n` })
    .action(() => command.error(`error: ${destroyAdvice}`, { code: 'commander.unknownCommand' }));
}

const destroyAdvice = `there is no command "destroy", and nothing was done: an apply removes what is no longer declared
To remove resources, choose a way, then run "trueup plan" and apply that plan:
  delete its document    what this stack created is deleted, what it adopted is released and stays.
                         A workspace that still manages resources is kept, and the plan says so
  metadata.remove        a document with "metadata.remove: safe" and without "spec" asks to delete one resource, also an
                         adopted one; "force" skips the check for managed resources, whose state is lost, behind the
                         guard "forced-delete"
  metadata.onRemove      "release" or "delete" says, while it is declared, what happens when the document is gone
  metadata.protect       "true" keeps it; apply "false" first
To remove everything, delete all documents and keep the stack file. A pattern in "spec.manifests" that finds no file makes the
plan incomplete, and nothing is removed: write it as { pattern: …, optional: true }.
The guards "deletes", "delete-percent", "zero" and "no-record" stop an apply that deletes much: it exits with 5 until they are
named with --ack, together with --approve DIGEST or a plan file (docs/reference/guards.md).
The resources that a workspace manages are never destroyed by this: destroy them in the workspace first.`;
