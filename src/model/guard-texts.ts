/** What each guard is about, for people who meet its id: what trips it, and what to check before it is acknowledged. */
import type { GuardId } from './guard.ts';

interface GuardText {
  /** one line without a full stop */
  readonly title: string;
  /** whole sentences */
  readonly trips: string;
  /** what to check, as an instruction without a full stop */
  readonly check: string;
}

export const guardTexts: Readonly<Record<GuardId, GuardText>> = {
  'older-commit': {
    title: 'A later commit was applied already',
    trips:
      'The last apply used a later commit of this repository, and the files of the stack differ between the two commits. This plan would undo the later changes.',
    check: 'update the checkout to the latest commit, unless you want to go back',
  },
  'diverged-commit': {
    title: 'The commit that was applied last is on another branch',
    trips:
      'Neither commit contains the other one, and the files of the stack differ. This plan would undo what only the other branch has.',
    check: 'merge the other commit, and plan again',
  },
  'missing-file': {
    title: 'A manifest that git tracks is missing from the work tree',
    trips:
      'The plan removes something, and a tracked manifest was not deleted by "git rm" or by a commit. The guard also fires when git cannot tell.',
    check: 'restore the file, or delete it with "git rm" and commit',
  },
  deletes: {
    title: 'The plan deletes many resources',
    trips:
      'More resources are deleted than "spec.guards.maxDeletes" allows: of one kind in a target, in a target, or in the whole plan.',
    check: 'make sure that each delete in the plan is intended',
  },
  zero: {
    title: 'The plan deletes all resources of a kind in a target',
    trips:
      'All of two or more resources are deleted. A single resource counts when nothing of its kind is created.',
    check: 'make sure that the manifests were found: a wrong path or pattern looks like this',
  },
  'delete-percent': {
    title: 'The plan deletes a large part of the resources',
    trips:
      'The stack owns at least ten resources of a kind in a target, and more than "spec.guards.maxDeletePercent" percent of them are deleted.',
    check: 'make sure that each delete in the plan is intended',
  },
  'update-percent': {
    title: 'The plan updates a large part of the resources',
    trips:
      'The stack owns at least ten resources of a kind in a target, and more than "spec.guards.maxUpdatePercent" percent of them are updated.',
    check: 'look for one change of the defaults that affects all of them',
  },
  recreate: {
    title: 'A resource that the ledger records no longer exists',
    trips: 'The ledger has a record of the resource, and the service does not have it: somebody deleted it.',
    check: 'find out who deleted it, and why, before it is created again',
  },
  rename: {
    title: 'A new resource looks like one that is being removed',
    trips:
      'A workspace is created that is similar to one that is no longer declared, or a role that is similar to one that is deleted. A rename would keep the old resource.',
    check: 'for a rename, write the old name into "metadata.renamedFrom"',
  },
  'no-record': {
    title: 'The plan deletes a resource that the ledger does not know',
    trips:
      'The ledger has no record of the resource. In a target with "exclusive: true" the guard also fires for an adopted resource.',
    check: 'make sure that no other team uses the resource',
  },
  'forced-delete': {
    title: 'A forced delete skips a check of the service',
    trips:
      'A document with "metadata.remove: force" deletes what a safe delete would refuse: a workspace that manages resources, that somebody else locked, or that was changed by others.',
    check: 'destroy the resources of the workspace first, or accept that their state is lost',
  },
  adopt: {
    title: 'The plan changes an existing resource that it adopts',
    trips:
      'A resource with "adopt: true" exists, differs from its manifest, and was never written by this stack. With "ownership: ledger" every adoption trips the guard.',
    check: 'make sure that no other stack or team manages the resource',
  },
  unrecorded: {
    title: 'A resource has the tag of this stack, but no record in the ledger',
    trips:
      'The resource also differs from its manifest. Either the ledger was lost, or another repository has a stack with this name.',
    check: 'run "trueup recover" if the ledger was lost; otherwise rename one of the stacks',
  },
  takeover: {
    title: 'The stack takes over the resources of its former name',
    trips: 'The stack has "metadata.renamedFrom", and the former stack owned or recorded the resources.',
    check: 'make sure that no apply runs under the former name any more',
  },
  wildcard: {
    title: 'A role admits every account or every namespace',
    trips: 'The role has "*" as a name or a namespace, or a namespace selector without labels.',
    check: 'name the accounts and namespaces that need the role',
  },
  'cleared-audience': {
    title: 'A role stops checking the audience of JWTs',
    trips: 'The role had an audience, and the plan removes it. Then a JWT for any other service is accepted.',
    check: 'keep the audience, unless the issuer sets none',
  },
  'unlimited-lifetime': {
    title: 'Tokens of a role may live for ever',
    trips:
      'The tokens become renewable without end, or lose a limit of the role: "tokenMaxTtl" or "tokenExplicitMaxTtl".',
    check: 'set a limit, unless the token must outlive every limit',
  },
  'global-sharing': {
    title: 'A workspace shares its state with the whole organization',
    trips: 'The plan sets "globalRemoteState: true", also for a new workspace. A state can hold secrets.',
    check: 'name the workspaces that may read the state instead',
  },
  'scheduled-destroy': {
    title: 'The resources of a workspace will be destroyed automatically',
    trips:
      'The plan sets an automatic destroy, moves it to an earlier time, or allows again what prevented it. The project of the workspace can also cause it.',
    check: 'make sure that the time is right and that nobody needs the resources after it',
  },
  widening: {
    title: 'Somebody gets more access',
    trips:
      'A change adds policies, accounts, namespaces, addresses, lifetime or readers of a state, or it trusts another cluster or repository.',
    check: 'read the sentence with "widens" at each change',
  },
  'new-role': {
    title: 'The plan creates a role',
    trips: 'A new role lets accounts log in that could not log in with it before.',
    check: 'read who can log in, and which policies the tokens get',
  },
  'commit-unknown': {
    title: 'It is unknown whether a later commit was applied already',
    trips:
      'There is no git repository, or git cannot compare the commit of the last apply with this one. The guard blocks if the plan changes what an unknown commit, or uncommitted files, had set.',
    check: 'run "git fetch", or plan from a full clone with the applied commit',
  },
};
