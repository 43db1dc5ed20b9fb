import Administration
import ArgumentParser
import Foundation
import Logging
import MTAChild
import OperatingSystem
import ProcessEvents
import PushCore
import Store
import Supervisor
import Synchronization
import UnixSignals

/// `pushmta supervisor`: without a subcommand, it runs the supervisor.
struct SupervisorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "supervisor",
        abstract: "Run the supervisor of this host, or shut one down gracefully.",
        subcommands: [SupervisorRunCommand.self, SupervisorDrainCommand.self],
        defaultSubcommand: SupervisorRunCommand.self
    )
}

/// `pushmta supervisor run`: the process that prepares deliveries and runs the MTA children of one host.
struct SupervisorRunCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run the supervisor of this host.",
        discussion: """
            SIGTERM or SIGINT: drain and end; a second signal ends it at once. SIGHUP: reload the settings and replace \
            the children one by one. Exit status 75: another supervisor uses the folder mta.workingPath; 78: a setting \
            is wrong, or the key file cannot be read.
            """
    )

    @OptionGroup var global: GlobalOptions

    func execute(_ loaded: LoadedSettings) async throws {
        let settings = loaded.values
        try OpenFiles.check("supervisor", OpenFiles.supervisor(settings))
        global.exportFlags()
        let global = global
        let logger = ProcessLog.logger("supervisor", settings)
        try StartKey.require(settings, logger)
        let availability = DatabaseAvailability(logger: logger)
        let supervisor = Supervisor(
            settings: Self.settings(loaded, global),
            connect: { role in
                let limit = Store.lockTimeoutMilliseconds
                let database = StoreSession.configuration(settings, role: role, lockTimeoutMilliseconds: limit)
                return try await availability.opening(role) { try await Store.connect(database, onEvent: $0) }
            },
            analyst: DeliveryAnalyst(
                analyse: { store, job in try await MessageAnalysis(store: store, job: job).findings() },
                trial: { job in ChunkTrial.of(job) },
                look: { store, look in try await LookAnswering.answer(look, store) }
            ),
            reload: {
                let loaded = try await global.load()
                try OpenFiles.check("supervisor", OpenFiles.supervisor(loaded.values))
                try StartKey.require(loaded.values, logger)
                return Self.settings(loaded, global)
            },
            logger: logger,
            service: ServiceManager(environment: ProcessInfo.processInfo.environment)
        )
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup)
        let watcher = Task {
            for await signal in signals {
                if signal == .sighup { supervisor.reload() } else { supervisor.drain() }
            }
        }
        defer { watcher.cancel() }
        try await supervisor.run()
    }

    private static func settings(_ loaded: LoadedSettings, _ global: GlobalOptions) -> SupervisorSettings {
        SupervisorSettings(
            loaded.values,
            globalOptions: loaded.file.map { ["--config", $0] } ?? [],
            hostName: ProcessInfo.processInfo.hostName,
            version: ProductVersion.text
        )
    }
}

/// `pushmta supervisor drain`: shuts a supervisor down gracefully and waits for its end.
struct SupervisorDrainCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "drain",
        abstract: "Shut a supervisor down gracefully, and wait until it has ended.",
        discussion: """
            Its children claim nothing new, resolve what they hold, and end; the other hosts continue with the rest. \
            Without --host, the command drains the supervisor that uses the folder mta.workingPath of this machine. If \
            that one is asked a second time, it shuts down fast and releases what it has not sent. Ctrl-C ends the \
            wait, not the drain.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Option(
        help: """
            The host of the supervisor, by name or id as `pushmta status` shows them; it is asked through the \
            database.
            """
    )
    var host: String?

    func execute(_ loaded: LoadedSettings) async throws {
        let settings = loaded.values
        let host = host
        let isOver: Bool? = try await UntilSignal.run {
            if let host {
                try await RemoteDrain(host: host, settings: settings).run()
            } else {
                try await LocalDrain(settings: settings).run()
            }
            return true
        }
        guard isOver != nil else {
            StandardError.write("\nThe wait was ended; the drain continues.\n")
            throw ExitCode(CommandFailure.interruptedStatus)
        }
    }
}

/// Drains the supervisor that uses this machine's folder.
struct LocalDrain: Sendable {
    /// The interval between two checks for its end.
    private static let interval = Duration.milliseconds(100)

    /// The settings that name the folder.
    let settings: Settings

    /// Sends the signal, and returns when the process has ended.
    func run() async throws {
        let folder = settings.mta.workingPath
        guard let owner = try FolderOwner(folder: folder) else {
            throw CommandFailure(
                .data,
                "No supervisor runs in the folder \(folder): give the settings of the one to drain (--config, or "
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

/// Drains the supervisor of another host, through the database.
struct RemoteDrain: Sendable {
    /// The interval between two checks for its end.
    private static let interval = Duration.milliseconds(500)

    /// The name or id of the host.
    let host: String
    /// The settings that name the database.
    let settings: Settings

    /// Requests the drain, and returns when the supervisor has reported its end.
    func run() async throws {
        try await StoreSession.run(settings) { store in
            let row = try await running(store)
            try await store.requestDrain(host: row.report.id)
            try await wait(for: row, store)
        }
    }

    /// The requested host; its supervisor must be running.
    private func running(_ store: Store) async throws -> HostRow {
        let hosts = try await store.hosts()
        let wanted = host.lowercased()
        let found = hosts.filter { $0.report.id == wanted || $0.report.name.lowercased() == wanted }
        let running = found.filter(\.isHeardOf)
        guard let first = found.first else {
            throw CommandFailure.unknownName("host", host, among: hosts.map(\.report.name), list: "status")
        }
        guard let only = running.first else {
            throw CommandFailure(
                .data,
                "The supervisor of \(first.report.name) is not running (it is \(first.health)), so there is nothing to drain; "
                    + "the other hosts take over what it held."
            )
        }
        guard running.count == 1 else {
            throw CommandFailure(
                .data,
                "\(running.count) supervisors run on hosts named \(host): give the id of one, "
                    + running.map(\.report.id).joined(separator: " or ")
            )
        }
        return only
    }

    private func wait(for asked: HostRow, _ store: Store) async throws {
        let id = asked.report.id
        let name = "The supervisor of \(asked.report.name), process \(asked.report.pid),"
        var display = WaitDisplay()
        defer { display.finish() }
        // A host that was removed, or whose supervisor was restarted, has also ended.
        while let row = try await store.hosts().first(where: { $0.report.id == id }), row.report.state != .stopped,
            row.startedAt == asked.startedAt
        {
            guard !row.isGone else {
                throw CommandFailure(
                    .negative,
                    "\(name) has been silent for \(Int(row.heartbeatAgeSeconds)) s without reporting its end: check that "
                        + "host. The other hosts take over what it held."
                )
            }
            let children = try await store.children().filter { $0.row.hostID == id }
            display.show("\(name) is \(row.report.state.rawValue): \(HostRemainder.text(children))")
            try await Task.sleep(for: Self.interval)
        }
        display.finish()
        StandardOutput.line("\(name) has ended.")
    }
}

/// What the children of a host still hold. It is read repeatedly, in parallel with the wait for their end, which may
/// come while the database does not respond.
final class HostRemainder: Sendable {
    /// The interval between two reads.
    private static let interval = Duration.milliseconds(500)

    private let words = Mutex("")

    /// The last reading, in words; empty before the first.
    var text: String { words.withLock { $0 } }

    /// Reads until the task is cancelled, for the host whose supervisor has this process id and folder.
    func follow(process: Int32, folder: String, _ settings: Settings) async {
        while !Task.isCancelled {
            do {
                try await StoreSession.run(settings) { store in
                    while !Task.isCancelled {
                        let hosts = try await store.hosts().filter {
                            $0.report.pid == process && $0.report.journalFolder == folder
                        }
                        let children = try await store.children().filter { child in
                            hosts.contains { $0.report.id == child.row.hostID }
                        }
                        say(Self.text(children))
                        try await Task.sleep(for: Self.interval)
                    }
                }
            } catch {
                say("the database does not respond")
                try? await Task.sleep(for: Self.interval)
            }
        }
    }

    private func say(_ text: String) {
        words.withLock { $0 = text }
    }

    /// The sum over some children.
    static func text(_ children: [ChildOverview]) -> String {
        guard !children.isEmpty else { return "no child is left" }
        let streams = children.reduce(0) { $0 + Int($1.report.connections.streamsInFlight) }
        let parts = children.reduce(0) { $0 + Int($1.report.partsHeld) }
        return "children \(children.count), messages on the wire \(streams), parts held \(parts)"
    }
}

/// The supervisor process that uses a folder.
struct FolderOwner: Sendable {
    let folder: String
    let process: ProcessRecord

    /// Finds the supervisor of a folder; `nil` if none runs.
    ///
    /// - Throws: `SupervisorError` if the folder cannot be examined; `CommandFailure` if the process is not visible
    ///   from here.
    init?(folder: String) throws {
        guard let id = try Supervisor.running(in: folder) else { return nil }
        guard let process = ProcessRecord(id) else {
            throw CommandFailure(
                .unavailable,
                "The folder \(folder) belongs to a supervisor, process \(id), that is not visible from here: run the command in "
                    + "the container or on the machine where it runs, or name its host with --host."
            )
        }
        self.folder = folder
        self.process = process
    }

    /// Whether the supervisor still runs.
    var isRunning: Bool { ProcessRecord(process.id)?.startTicks == process.startTicks }

    /// Asks the supervisor to drain.
    func drain() throws {
        guard isRunning, kill(process.id, SIGTERM) != 0, errno != ESRCH else { return }
        throw CommandFailure(
            .unavailable,
            "The supervisor of \(folder), process \(process.id), cannot be sent a signal: \(String(cString: strerror(errno))). "
                + "Run the command as the user of that process."
        )
    }
}
