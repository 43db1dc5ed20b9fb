import PushCore

/// Lets the supervisor of this machine's folder end.
struct LocalDrain: Sendable {
    /// The time between two looks whether it has.
    private static let interval = Duration.milliseconds(100)

    /// The settings that name the folder.
    let settings: Settings

    /// Sends the signal and returns when the process is gone.
    func run() async throws {
        let folder = settings.mta.workingPath
        guard let owner = try FolderOwner(folder: folder) else {
            throw CommandFailure(
                .data,
                "No supervisor runs in the folder \(folder): give the settings of the one that is meant (--config, or "
                    + "--set mta.workingPath=FOLDER), or name its host with --host; `pushmta status` shows the hosts."
            )
        }
        try owner.drain()
        let remainder = HostRemainder()
        let settings = settings
        let looks = Task { await remainder.follow(process: owner.process.id, folder: folder, settings) }
        defer { looks.cancel() }
        try await wait(for: owner, remainder)
        StandardOutput.line("The supervisor of \(folder), process \(owner.process.id), has ended.")
    }

    private func wait(for owner: FolderOwner, _ remainder: HostRemainder) async throws {
        var display = WaitDisplay()
        defer { display.finish() }
        let start = "Waiting for the supervisor, process \(owner.process.id), to end"
        display.show(start)
        while owner.isRunning {
            let text = remainder.text
            if !text.isEmpty { display.show("\(start): \(text)") }
            try await Task.sleep(for: Self.interval)
        }
    }
}
