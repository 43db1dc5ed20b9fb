import Administration
import ArgumentParser
import OperatingSystem

/// The user whose rights the checks use: with the rights of the service's user they see what the service will see.
struct CheckUser: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Check with the rights of this user, normally the service's; needs root.",
            valueName: "name"
        )
    )
    var user: String?

    /// Takes on the user's rights permanently. Call this before settings are read, as that user may not be able to
    /// read them.
    ///
    /// - Throws: `CommandFailure` if this process cannot.
    func take() throws {
        guard let name = user else { return }
        guard let user = MachineUser(named: name) else {
            throw CommandFailure(
                .usage,
                "There is no user \(TerminalText.line(name)) on this machine: `getent passwd` lists them."
            )
        }
        guard user.id != MachineUser.current?.id else { return }
        guard MachineUser.isRoot else {
            throw CommandFailure(
                .usage,
                "Only root can check with the rights of \(user.name): run this command as root, or as that user without --user (runuser -u \(user.name) -- …)."
            )
        }
        do {
            try user.become()
        } catch {
            throw CommandFailure(.unavailable, "The rights of \(user.name) cannot be taken on: \(error).")
        }
    }
}
