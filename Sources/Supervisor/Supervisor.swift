// Supervisor: prepares deliveries and runs the MTA children of one host.
//
// WHAT IT DOES
//   Cuts started deliveries into parts. Starts, watches, replaces and ends children. Replays the journals of dead
//   children, takes parts from lost owners on any host, finishes deliveries, creates partitions, reads health signals and
//   sets the rates that follow them, and maintains its host's row in mta_host.
//
// HOW IT IS USED
//   `pushmta supervisor run` creates a Supervisor from SupervisorSettings and a function that connects, and awaits
//   run(). SIGTERM and SIGINT call drain(); a second one shuts down fast. SIGHUP calls reload(). run() takes the folder
//   (HostFolder) and starts SupervisorLoop. The loop feeds SupervisorPlan, a value, with SupervisorEvents in order and
//   carries out its SupervisorActions. Periodic work on the database is a Duty; SupervisorLoop+Duties.swift lists them.
//   The program also uses Supervisor.running(in:) and PreparationCheck.
//
// THREADS AND TASKS
//   One task processes the events. Each duty, each child and the probe of the journals' disk has its own task. There
//   are five connections: for the host itself, preparation, slow preparation, listening and metrics; a sixth, and
//   libcurl's thread, while a delivery follows a health signal. Metrics are served from memory. A session waits at most
//   2 s for another session's lock, so a locked delivery does not stop the others. A round of a duty waits for the
//   database without a limit. A look for work that takes 5 s reports the database to the plan as unavailable.
//
// STATE AND FILES
//   The folder mta.workingPath: host-id (the identity of the host), supervisor.lock (a flock held while it runs), and a
//   journal for each child. Journals put aside end in .foreign, .unreadable or .older. trace.sock is the socket for
//   `pushmta trace` (mode 0600). `probe` and `trace.new` exist briefly. Everything else is in the database or is
//   learned again, so a kill loses nothing: children see the end of their standard input and drain, and the folder's
//   next supervisor replays what they left.
//
// FAILURES
//   Database down: it retries with pauses up to mta.master.dataBaseRetryDelaySec and starts no child. When the database
//   is back, owners of parts get a whole lease to renew. A drain during an outage leaves journals for the next start.
//   Journal disk full or read-only: no child is started, and mta_host shows the alarm. A child that dies before its
//   first message throttles its kind. A child without progress for twice the longest timeout, and at least 60 s, gets
//   SIGTERM, then SIGKILL after 10 s. A delivery that cannot be prepared waits with its reason or fails, and delays no
//   other. A foreign or damaged journal is put aside. A database failure never ends the supervisor, and no other
//   machine's clock makes it take a part.
//
// SETTINGS
//   mta.workingPath, mta.master.*, mta.preparation.*, mta.lease.*, mta.quarantine.*, mta.signals.*, metrics.*,
//   mta.child.idleChildTimeoutSec, mta.child.requestTimeoutSec and mta.child.connectTimeoutSec.
//   SupervisorSettings.waitingForRestart(in:) lists those that need a restart.
//
// SEE ALSO
//   SupervisorLoop.swift, Plan/SupervisorPlan.swift, Duties/LeaseSweep.swift, Duties/PreparationDuty.swift,
//   Journals/JournalRecovery.swift, Children/ChildProcess.swift, Sources/DESIGN.md (3, 4, 5, 9)

import Logging
import OperatingSystem
import ProcessEvents
import PushCore
import Store
import SystemPackage

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The supervisor of one host: it prepares deliveries, runs the children that send them, and recovers what dead
/// children left, here and on lost hosts.
///
/// A value (``SupervisorPlan``) makes every decision about children. One loop carries out its actions, and a few duties
/// work on the database. The supervisor handles no signals: the command line calls ``drain()``, ``fastShutdown()`` and
/// ``reload()``.
package final class Supervisor: Sendable {
    /// Opens one connection to the database. The role ("supervisor", "supervisor-prepare", "supervisor-slow",
    /// "supervisor-listen", "supervisor-signals", "supervisor-metrics") becomes part of its application name.
    package typealias Connect = @Sendable (_ role: String) async throws -> Store

    let settings: SupervisorSettings
    let connect: Connect
    let analyst: DeliveryAnalyst
    let readSettings: @Sendable () async throws -> SupervisorSettings
    let logger: Logger
    let service: ServiceManager?
    private let events: AsyncStream<SupervisorEvent>
    private let mailbox: AsyncStream<SupervisorEvent>.Continuation

    /// Creates a supervisor without starting it.
    ///
    /// - Parameters:
    ///   - settings: the settings to start with.
    ///   - connect: opens a connection; called again with growing pauses while it throws.
    ///   - reload: reads the settings again; if it throws, the current ones stay in effect.
    ///   - logger: the supervisor's log.
    ///   - service: the service manager that started this process, if it wants notifications.
    package init(
        settings: SupervisorSettings,
        connect: @escaping Connect,
        analyst: DeliveryAnalyst,
        reload: @escaping @Sendable () async throws -> SupervisorSettings,
        logger: Logger,
        service: ServiceManager? = nil
    ) {
        self.settings = settings
        self.connect = connect
        self.analyst = analyst
        readSettings = reload
        self.logger = logger
        self.service = service
        (events, mailbox) = AsyncStream.makeStream()
    }

    /// Runs until a drain was requested and every child is gone.
    ///
    /// If its task is cancelled, children get SIGTERM and, after the kill delay, SIGKILL.
    ///
    /// - Throws: ``SupervisorError`` when it cannot start because the folder is in use or unusable. A database failure
    ///   never ends it.
    package func run() async throws {
        // A child that dies closes the pipe we may be writing to. The write must fail then, without ending this
        // process.
        signal(SIGPIPE, SIG_IGN)
        let folder = try HostFolder.open(
            FilePath(settings.mta.workingPath),
            owner: "\(settings.hostName.isEmpty ? "this host" : settings.hostName), process \(getpid())"
        )
        let executable = try ExecutablePath.resolve(settings.mta.master.executablePath)
        logger.event(.processStarted, "Supervisor started, host \(folder.hostID), folder \(folder.path)")
        let loop = SupervisorLoop(self, folder: folder, executable: executable, tell: tell)
        // It is ready now: a lost database does not restart it; it waits.
        service?.ready("Running, host \(folder.hostID)")
        await loop.run(events)
        folder.release()
        logger.event(.processEnded, "Supervisor ended")
    }

    /// Requests an orderly end: nothing new is claimed, and children resolve what they hold. A second call shuts down
    /// fast.
    package func drain() {
        service?.stopping("Draining: the children resolve what they hold")
        tell(.drain)
    }

    /// Ends it now: children get SIGTERM and, after the kill delay, SIGKILL.
    package func fastShutdown() {
        service?.stopping("Shutting down fast")
        tell(.fastShutdown)
    }

    /// Reads the settings again and replaces the children one by one.
    ///
    /// If they cannot be read, it logs the error and keeps the current ones.
    package func reload() {
        service?.reloading()
        Task {
            do {
                tell(.reload(try await readSettings()))
                service?.ready("Running with the new settings")
            } catch {
                logger.error("The settings could not be reloaded, so the current ones stay in effect: \(error)")
                service?.ready("Running with the previous settings: the new ones could not be read")
            }
        }
    }

    func tell(_ event: SupervisorEvent) { mailbox.yield(event) }
}

extension Supervisor {
    /// The process id of the supervisor that is running on a folder (`mta.workingPath`) of this machine; nil if none
    /// is.
    ///
    /// The lock that a supervisor holds on a file in the folder is the proof. So the answer is right however an earlier
    /// one ended, and needs neither the database nor a process list.
    ///
    /// - Throws: ``SupervisorError`` when the folder cannot be examined, for example without permission.
    package static func running(in folder: String) throws -> Int32? {
        try HostFolder.owner(of: FilePath(folder))
    }
}

/// Finds the executable of the children.
enum ExecutablePath {
    /// The path from the settings, or the running program's own file.
    ///
    /// On Linux `/proc/self/exe` is resolved to a path once, at the start. After an upgrade has replaced the file at
    /// that path, new children run the new program.
    static func resolve(_ setting: String) throws -> FilePath {
        if !setting.isEmpty { return FilePath(setting) }
        #if os(Linux)
        var own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        // The kernel marks a file that was replaced while it ran; the new file has the same path.
        let mark = " (deleted)"
        if own.hasSuffix(mark) { own.removeLast(mark.count) }
        return FilePath(own)
        #else
        let own = CommandLine.arguments.first ?? ""
        guard own.hasPrefix("/") else {
            throw SupervisorError(
                .setting,
                "The path of the children's executable is unknown, because '\(own)' is not absolute. "
                    + "Set mta.master.executablePath."
            )
        }
        return FilePath(own)
        #endif
    }
}
