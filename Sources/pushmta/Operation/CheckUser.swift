import Administration
import ArgumentParser
import OperatingSystem

/// With whose rights checks look: those of the user that the service runs as see what the service will see.
struct CheckUser: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Look with the rights of this user, as that of the service; only root can.",
            valueName: "name"
        )
    )
    var user: String?

    /// Takes the user's rights, for good: before settings are read, as that user may not be able to.
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
                "Only root can look with the rights of \(user.name): call this as root, or as that user (runuser -u \(user.name) -- …) and without --user."
            )
        }
        do {
            try user.become()
        } catch {
            throw CommandFailure(.unavailable, "The rights of \(user.name) cannot be taken: \(error).")
        }
    }
}
