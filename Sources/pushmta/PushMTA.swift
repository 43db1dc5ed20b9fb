// pushmta: the program: the command line, and the start of every process of the product.
//
// WHAT IT DOES
//   Main hands over to the command line (CommandLineProgram). One file a noun has its commands; what they do is in the modules.
//
// HOW IT IS USED
//   Long-lived processes: supervisor, mta-child (which only a supervisor starts), feedback, web, console; see Processes. Commands for
//   people and scripts: top (Top); trace (Tracing); migrate, doctor, status, queue, explain, host, config, answers, metrics (Operation);
//   service, account, app, credential, key (Applications); subscription, exclusion, mapping, quarantine (Audience); delivery, message,
//   rate, template, seed, content (Deliveries). Nearly each is a PushMTACommand: execute(_:) gets the loaded settings. --help says
//   everything of each. Drills, benches and quickstart are those of pushmta-lab.
//
// THREADS AND TASKS
//   A command is one task. Processes trap their signals (UnixSignalsSequence) in a task of their own and call drain(),
//   fastShutdown() or reload() of their module, which knows no signals.
//
// STATE AND FILES
//   None of its own: the database, and the files of the modules. Logs go to standard error; results to standard output, as
//   tables for people and as JSON with --json.
//
// FAILURES
//   The exit code says of which kind the trouble is: 0, 1, 64, 65, 69, 70, 75, 78 and 130, as PushMTA's discussion lists
//   them; a child has those of ChildExitReason. A process that may open fewer files than it needs does not start (OpenFiles).
//
// SETTINGS
//   All, by --config, --database, --set and the environment. A supervisor gives its flags to its children by the environment,
//   as a connection string may hold a password.
//
// SEE ALSO
//   Processes/SupervisorCommand.swift, Processes/ProcessStart.swift, Operation/StatusCommand.swift,
//   Operation/DoctorCommand.swift, Deliveries/DeliveryCommand.swift, Sources/Administration/Settings/PushMTACommand.swift,
//   Config/pushmta.yaml, Deploy/guide/operate.md

import Administration
import ArgumentParser

/// The start of every process of PushMTA.
@main
enum Main {
    static func main() async { await CommandLineProgram.run(PushMTA.self) }
}

/// The command line of PushMTA.
struct PushMTA: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pushmta",
        abstract: "A delivery engine for mobile push, built the way a mail transfer agent is built.",
        discussion: """
            Exit codes: 0 done; 1 the answer is no (a check failed, a delivery ended badly); 64 wrong use of the command line; \
            65 wrong input (a file, a name, content); 69 the database or a gateway cannot be reached or refused; 70 an error of \
            PushMTA itself; 75 somebody else has what is needed, as a supervisor has its folder: try again later; 78 a wrong \
            setting or schema; 130 ended by a signal.
            """,
        version: ProductVersion.text,
        subcommands: [
            SupervisorCommand.self, FeedbackCommand.self, WebCommand.self, ConsoleCommand.self, MTAChildCommand.self,
            MigrateCommand.self, DoctorCommand.self,
            StatusCommand.self, TopCommand.self, TraceCommand.self, QueueCommand.self, ExplainCommand.self,
            HostCommand.self, AlarmCommand.self,
            ConfigCommand.self, ServiceCommand.self, MappingCommand.self, AccountCommand.self, ApplicationCommand.self,
            CredentialCommand.self,
            SubscriptionCommand.self, ExclusionCommand.self, QuarantineCommand.self, AnswersCommand.self,
            MetricsCommand.self,
            DeliveryCommand.self, MessageCommand.self, RateCommand.self, TemplateCommand.self, SeedCommand.self,
            KeyCommand.self,
            ContentCommand.self,
        ]
    )
}
