// pushmta: the program: the command line, and the entry point of every process of the product.
//
// WHAT IT DOES
//   Main hands over to the command line (CommandLineProgram). Each noun has a file with its commands; the modules do
//   their work.
//
// HOW IT IS USED
//   Long-lived processes (see Processes): supervisor, mta-child (started only by a supervisor), feedback, web,
//   console. Commands for people and scripts: top (Top); trace (Tracing); migrate, doctor, status, queue, explain,
//   host, alarm, events, webhook, config, answers, metrics (Operation); service, cap, account, app, credential, key
//   (Applications); subscription, optout, category, exclusion, mapping, quarantine (Audience); delivery, approval,
//   message, rate, signal, template, seed, content (Deliveries). Almost every command is a PushMTACommand: execute(_:)
//   gets the loaded settings. --help documents each of them. Drills, benches and the quickstart belong to pushmta-lab.
//
// THREADS AND TASKS
//   A command is one task. Processes handle their signals (UnixSignalsSequence) in a separate task, which calls
//   drain(), fastShutdown() or reload() of their module; the module itself handles no signals.
//
// STATE AND FILES
//   None of its own: only the database and the files of the modules. Logs go to standard error. Results go to
//   standard output, as tables for people or, with --json, as JSON.
//
// FAILURES
//   The exit code says what went wrong: 0, 1, 64, 65, 69, 70, 75, 78 and 130, as listed in PushMTA's discussion. A
//   child has those of ChildExitReason. A process that may open fewer files than it needs does not start (OpenFiles).
//
// SETTINGS
//   All of them, by --config, --database, --set and the environment. A supervisor passes its flags to its children in
//   the environment, as a connection string may hold a password.
//
// SEE ALSO
//   Processes/SupervisorCommand.swift, Processes/StartKey.swift, Operation/StatusCommand.swift,
//   Operation/DoctorCommand.swift, Deliveries/DeliveryCommand.swift, Sources/Administration/Settings/PushMTACommand.swift,
//   Config/pushmta.yaml, Deploy/guide/operate.md

import Administration
import ArgumentParser

/// The entry point of every process of PushMTA.
@main
enum Main {
    static func main() async { await CommandLineProgram.run(PushMTA.self) }
}

/// The command line of PushMTA.
struct PushMTA: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pushmta",
        abstract: "A delivery engine for mobile push, built like a mail transfer agent.",
        discussion: """
            Exit codes: 0 done; 1 the answer is no (a check failed, a delivery ended badly); 64 wrong command line; 65 \
            wrong input (a file, a name, content); 69 the database or a gateway is unreachable or refused; 70 a bug in \
            PushMTA; 75 another process holds what is needed, such as a supervisor its folder: try again later; 78 a \
            wrong setting or schema; 130 ended by a signal.
            """,
        version: ProductVersion.text,
        subcommands: [
            SupervisorCommand.self, FeedbackCommand.self, WebCommand.self, ConsoleCommand.self, MTAChildCommand.self,
            MigrateCommand.self, DoctorCommand.self,
            StatusCommand.self, TopCommand.self, TraceCommand.self, QueueCommand.self, ExplainCommand.self,
            HostCommand.self, AlarmCommand.self, EventsCommand.self, WebhookCommand.self,
            ConfigCommand.self, ServiceCommand.self, CapCommand.self, BehaviourCommand.self, MappingCommand.self,
            AccountCommand.self,
            ApplicationCommand.self,
            CredentialCommand.self,
            SubscriptionCommand.self, OptOutCommand.self, CategoryCommand.self, ExclusionCommand.self,
            AudienceCommand.self,
            QuarantineCommand.self, AnswersCommand.self,
            MetricsCommand.self,
            DeliveryCommand.self, ApprovalCommand.self, MessageCommand.self, RateCommand.self, SignalCommand.self,
            TemplateCommand.self, SeedCommand.self,
            KeyCommand.self,
            ContentCommand.self,
        ]
    )
}
