// Supervisor: prepares deliveries and runs the MTA children of one host.
//
// WHAT IT DOES
//   Cuts started deliveries into parts, starts, watches, replaces and ends children, replays the journals of dead ones, takes
//   parts from owners that are lost on any host, finishes deliveries, makes partitions, and keeps the row of its host in
//   mta_host.
//
// HOW IT IS USED
//   `pushmta supervisor run` makes one Supervisor of SupervisorSettings and a way to connect, and awaits run(). SIGTERM and
//   SIGINT call drain(), and the second one shuts down fast; SIGHUP calls reload(). run() takes the folder (HostFolder) and
//   starts SupervisorLoop. That feeds SupervisorPlan, a value, with SupervisorEvents in their order and carries out its
//   SupervisorActions. What looks after the database again and again is a Duty; SupervisorLoop+Duties.swift has the list of
//   them. The program also uses Supervisor.running(in:) and PreparationCheck.
//
// THREADS AND TASKS
//   One task works off the events; each duty and each child has a task of its own, as has the probe of the journals' disk.
//   There are connections for the host's affairs, for preparation, for preparation that is slow, one that listens, and one that
//   reads figures for metrics, which are served from memory. A
//   session waits 2 s for a lock of others, so that one locked delivery does not stop the rest. A round of a duty waits for
//   the database however long it takes; a look for work that takes 5 s tells the plan that the database is away.
//
// STATE AND FILES
//   The folder mta.workingPath: host-id (the identity of the host), supervisor.lock (a flock for as long as it runs), a
//   journal for each child, journals put aside as .foreign or .unreadable, the socket trace.sock for `pushmta trace` (mode 0600),
//   and, for a moment, `probe` and `trace.new`. All else is in the database or is learned anew, so that a kill loses nothing.
//   Children see the end of their standard input then, drain by themselves, and the next supervisor of the folder replays what
//   they left.
//
// FAILURES
//   Database away: it waits, with pauses up to mta.master.dataBaseRetryDelaySec, and starts no child; when it is back, owners
//   of parts have a whole lease to renew. A drain leaves journals behind then, for the next start. Journal disk full or
//   read-only: no child is started, and mta_host has the alarm. A child that dies before its first message throttles its
//   kind. One without progress for twice the longest timeout, 60 s at least, gets SIGTERM, and SIGKILL after 10 s. A delivery
//   that cannot be prepared waits with its reason or fails, and delays no other. A journal that is not its own or is damaged
//   is put aside. It never ends because of the database, and never takes a part by another machine's clock.
//
// SETTINGS
//   mta.workingPath, mta.master.*, mta.preparation.*, mta.lease.*, mta.quarantine.*, metrics.*, mta.child.idleChildTimeoutSec, the
//   two timeouts mta.child.requestTimeoutSec and connectTimeoutSec. SupervisorSettings says which of them wait for a restart.
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

/// The supervisor of one host: it prepares deliveries, starts and watches the children that send them, and recovers what
/// those left that died, here and on lost hosts.
///
/// Every decision about children is made by a value (``SupervisorPlan``); around it there is one loop that carries out what the
/// plan wants, and a handful of duties that look after the database. It knows no signals: the command line calls ``drain()``,
/// ``fastShutdown()`` and ``reload()``.
public final class Supervisor: Sendable {
    /// Opens one connection to the database; the role ("supervisor", "supervisor-prepare", "supervisor-slow", "supervisor-listen",
    /// "supervisor-metrics") goes into its application name.
    public typealias Connect = @Sendable (_ role: String) async throws -> Store

    let settings: SupervisorSettings
    let connect: Connect
    let readSettings: @Sendable () async throws -> SupervisorSettings
    let logger: Logger
    let service: ServiceManager?
    private let events: AsyncStream<SupervisorEvent>
    private let mailbox: AsyncStream<SupervisorEvent>.Continuation

    /// Makes a supervisor that has not started.
    ///
    /// - Parameters:
    ///   - settings: the settings to start with.
    ///   - connect: opens a connection; called again with growing pauses as long as it throws.
    ///   - reload: reads the settings again; if it throws, the present ones stay.
    ///   - logger: where the supervisor says what it does.
    ///   - service: what started this process, if it wants to be told how it goes.
    public init(
        settings: SupervisorSettings,
        connect: @escaping Connect,
        reload: @escaping @Sendable () async throws -> SupervisorSettings,
        logger: Logger,
        service: ServiceManager? = nil
    ) {
        self.settings = settings
        self.connect = connect
        readSettings = reload
        self.logger = logger
        self.service = service
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
            FilePath(settings.mta.workingPath),
            owner: "\(settings.hostName.isEmpty ? "this host" : settings.hostName), process \(getpid())"
        )
        let executable = try ExecutablePath.resolve(settings.mta.master.executablePath)
        logger.event(.processStarted, "Supervisor started, host \(folder.hostID), folder \(folder.path)")
        let loop = SupervisorLoop(self, folder: folder, executable: executable, tell: tell)
        // It serves from here on: a database that is away is waited for, and is no reason to start it again.
        service?.ready("Running, host \(folder.hostID)")
        await loop.run(events)
        folder.release()
        logger.event(.processEnded, "Supervisor ended")
    }

    /// Asks it to end in order: nothing new is claimed, children resolve what they hold. Asked a second time, it shuts down fast.
    public func drain() {
        service?.stopping("Draining: the children resolve what they hold")
        tell(.drain)
    }

    /// Asks it to end now: children get SIGTERM and, after the kill delay, SIGKILL.
    public func fastShutdown() {
        service?.stopping("Ending at once")
        tell(.fastShutdown)
    }

    /// Asks it to read its settings again and to replace its children one by one.
    ///
    /// If they cannot be read, it says so and goes on with the present ones.
    public func reload() {
        service?.reloading()
        Task {
            do {
                tell(.reload(try await readSettings()))
                service?.ready("Running, with the settings as they are now")
            } catch {
                logger.error("The settings could not be read again, the present ones stay: \(error)")
                service?.ready("Running, with the settings as they were: the new ones could not be read")
            }
        }
    }

    func tell(_ event: SupervisorEvent) { mailbox.yield(event) }
}

extension Supervisor {
    /// The process id of the supervisor that runs on a folder (`mta.workingPath`) of this machine at this moment; nil if none does.
    ///
    /// The lock that a supervisor holds on a file in the folder is the proof, so the answer is right whatever ended an earlier
    /// one, and needs neither the database nor a process list.
    ///
    /// - Throws: ``SupervisorError`` when the folder cannot be looked at, such as without the rights to it.
    public static func running(in folder: String) throws -> Int32? {
        try HostFolder.owner(of: FilePath(folder))
    }
}

public struct SupervisorError: Error, Sendable, CustomStringConvertible {
    public enum Code: Sendable, Equatable {
        /// Another supervisor owns the folder.
        case folderInUse
        /// The folder or a file in it cannot be created, read or written.
        case folderNotUsable
        /// A setting has a value that cannot be used.
        case setting
    }

    public let code: Code
    /// What happened, to which thing, why, and what to do.
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// What happened, to which thing, why, and what to do.
    public var description: String { message }
}

/// Which executable the children are.
enum ExecutablePath {
    /// The path from the settings, or the running program's own file.
    ///
    /// On Linux `/proc/self/exe` is resolved at once: after an upgrade has replaced the file, new children are new programs,
    /// which the settings ask for in that the path stays the same.
    static func resolve(_ setting: String) throws -> FilePath {
        if !setting.isEmpty { return FilePath(setting) }
        #if os(Linux)
        var own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        // The kernel marks a file that was replaced while it ran; the new one is at the same place.
        let mark = " (deleted)"
        if own.hasSuffix(mark) { own.removeLast(mark.count) }
        return FilePath(own)
        #else
        let own = CommandLine.arguments.first ?? ""
        guard own.hasPrefix("/") else {
            throw SupervisorError(
                .setting,
                "The path of the children's executable is not known, as '\(own)' is not absolute. "
                    + "Set mta.master.executablePath."
            )
        }
        return FilePath(own)
        #endif
    }
}
