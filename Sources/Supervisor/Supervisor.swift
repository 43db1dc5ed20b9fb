import Logging
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

    /// Asks it to end in order: nothing new is claimed, children resolve what they hold. Asked a second time, it shuts down fast.
    public func drain() { tell(.drain) }

    /// Asks it to end now: children get SIGTERM and, after the kill delay, SIGKILL.
    public func fastShutdown() { tell(.fastShutdown) }

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

/// A supervisor cannot start.
public struct SupervisorError: Error, Sendable, CustomStringConvertible {
    /// What went wrong.
    public enum Code: Sendable, Equatable {
        /// Another supervisor owns the folder.
        case folderInUse
        /// The folder or a file in it cannot be created, read or written.
        case folderNotUsable
        /// A setting has a value that cannot be used.
        case setting
    }

    /// What went wrong.
    public let code: Code
    /// What happened, to which thing, why, and what to do.
    public let message: String

    /// Makes an error.
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
