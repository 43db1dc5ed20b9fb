import Logging
import Store
import SystemPackage

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The supervisor of one host: it prepares deliveries, starts and watches the children that send them, and settles the affairs
/// of those that died, here and on lost hosts.
///
/// Every decision about children is made by a value (``SupervisorPlan``); around it there is one loop that carries out what the
/// plan wants, and a handful of duties that look after the database. It knows no signals: the command line calls ``drain()``,
/// ``hurry()`` and ``reload()``.
public final class Supervisor: Sendable {
    /// Opens one connection to the database; the role ("supervisor", "supervisor-prepare", "supervisor-slow", "supervisor-listen") goes into
    /// its application name.
    public typealias Connect = @Sendable (_ role: String) async throws -> Store

    let settings: SupervisorSettings
    let connect: Connect
    let readSettings: @Sendable () async throws -> SupervisorSettings
    let logger: Logger
    private let events: AsyncStream<SupervisorEvent>
    private let mailbox: AsyncStream<SupervisorEvent>.Continuation

    /// Makes a supervisor that has not started.
    ///
    /// - Parameters:
    ///   - settings: the settings to start with.
    ///   - connect: opens a connection; called again with growing pauses as long as it throws.
    ///   - reload: reads the settings again; if it throws, the present ones stay.
    ///   - logger: where the supervisor says what it does.
    public init(
        settings: SupervisorSettings,
        connect: @escaping Connect,
        reload: @escaping @Sendable () async throws -> SupervisorSettings,
        logger: Logger
    ) {
        self.settings = settings
        self.connect = connect
        readSettings = reload
        self.logger = logger
        (events, mailbox) = AsyncStream.makeStream()
    }

    /// Runs until it was asked to drain and every child is gone.
    ///
    /// If its task is cancelled, children get SIGTERM and, after the kill delay, SIGKILL.
    ///
    /// - Throws: ``SupervisorError`` when it cannot start: the folder is in use or cannot be used. Trouble with the database
    ///   never ends it.
    public func run() async throws {
        // A child that dies closes the pipe we may be writing to; that must be an error of the write, not the end of us.
        signal(SIGPIPE, SIG_IGN)
        let folder = try HostFolder.open(
            FilePath(settings.workingPath),
            owner: "\(settings.hostName.isEmpty ? "this host" : settings.hostName), process \(getpid())"
        )
        let executable = try ExecutablePath.resolve(settings.executablePath)
        logger.notice("Supervisor of host \(folder.hostID) started, folder \(folder.path)")
        let loop = SupervisorLoop(self, folder: folder, executable: executable, tell: tell)
        await loop.run(events)
        folder.release()
        logger.notice("Supervisor ended")
    }

    /// Asks it to end in order: nothing new is claimed, children settle what they hold. Asked a second time, it hurries.
    public func drain() { tell(.drain) }

    /// Asks it to end now: children get SIGTERM and, after the kill delay, SIGKILL.
    public func hurry() { tell(.hurry) }

    /// Asks it to read its settings again and to replace its children one by one.
    ///
    /// If they cannot be read, it says so and goes on with the present ones.
    public func reload() {
        Task {
            do {
                tell(.reload(try await readSettings()))
            } catch {
                logger.error("The settings could not be read again, the present ones stay: \(error)")
            }
        }
    }

    func tell(_ event: SupervisorEvent) { mailbox.yield(event) }
}
