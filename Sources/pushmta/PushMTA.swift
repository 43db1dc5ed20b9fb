import Administration
import ArgumentParser
import Foundation
import Laboratory
import PushCore

/// The start of every process of PushMTA.
@main
enum Main {
    static func main() async {
        // A reader that is gone (a pipe's other end, a supervisor) is an error to handle, not a reason to die.
        signal(SIGPIPE, SIG_IGN)
        DescriptorLimit.raise()
        CoreDumps.forbid()
        await PushMTA.main()
    }
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
            SupervisorCommand.self, FeedbackCommand.self, WebCommand.self, MTAChildCommand.self, MigrateCommand.self,
            DoctorCommand.self,
            StatusCommand.self,
            ConfigCommand.self, ServiceCommand.self, MappingCommand.self, AccountCommand.self, ApplicationCommand.self,
            CredentialCommand.self,
            SubscriptionCommand.self, ExclusionCommand.self, QuarantineCommand.self, AnswersCommand.self,
            DeliveryCommand.self, MessageCommand.self, TemplateCommand.self, SeedCommand.self, KeyCommand.self,
            ContentCommand.self, BenchCommand.self,
            QuickstartCommand.self, DrillCommand.self,
        ]
    )
}

/// The version of the product.
enum ProductVersion {
    /// As `pushmta --version` and the status tables show it.
    static let text = "0.1.0"
}
