import Administration
import Foundation
import PushCore
import Store
import SystemPackage

/// The wall clock of one host, or of the database's host, steps and is wrong by up to ten minutes.
struct ClockDrill: Drill {
    enum Place: String, Sendable {
        /// One of two hosts.
        case host
        /// The database's server.
        case database
    }

    let place: Place

    var name: String { "clock-\(place.rawValue)" }
    var summary: String {
        (place == .host ? "the clock of one of two hosts" : "the clock of the database's host")
            + " steps by up to ±10 minutes"
    }
    let promise = "no lease lost or taken early, no message expired or delayed"
    let needs: [DrillNeed] = [.simulator]

    /// How far the clock is off, in seconds: far ahead, far behind, a little, and correct again.
    private static let steps: [Int64] = [600, -600, 0, 45, -45, 600, -600]

    /// The validity of the last messages, in seconds. It is less than the clock is off.
    private static let validity: Int64 = 300
    /// How long a delivery may make no progress before it counts as delayed: far less than the clock is off.
    private static let timeout = Duration.seconds(45)
    private static let streams = 100

    func run(_ site: DrillSite) async throws {
        let clock = try ShiftedClock(folder: site.cluster.folder + "-clock", programs: site.programs)
        site.onCleanup { clock.remove() }
        site.leaveNote(clock.removalCommand)
        if place == .database { site.configureCluster { $0.environment = clock.environment } }
        try await site.startCluster()
        try await site.startSimulator(DrillGateway(streams: Self.streams))
        try await site.addHost("host1").start()
        try await site.addHost("host2", DrillHostSetup(environment: place == .host ? clock.environment : [:])).start()
        let audience = try await site.audience([.ios, .android])
        // When campaigns leave depends on the clock.
        try await site.keepSending(to: audience, hasCampaigns: false)
        let rate = try await site.undisturbedRate()
        for number in 1...minimumFaults { try await step(site, clock, number, rate) }
        try await site.untilOver()
        try await sendAgainLater(site, audience, clock)
        try await sendInTime(site, audience, clock)
        try await site.expectNoLostLease(once: true)
        try await expectAllSent(site)
    }

    private func step(_ site: DrillSite, _ clock: ShiftedClock, _ number: Int, _ rate: Double) async throws {
        // Each step happens at least once; further ones are random.
        let chosen = site.randomElement(of: Self.steps) ?? 0
        let seconds = number <= Self.steps.count ? Self.steps[number - 1] : chosen
        let what = "the clock of the \(place.rawValue) is off by \(seconds) s"
        if number.isMultiple(of: 5) {
            try await site.outage(what, rate: rate) { try await shift(site, clock, by: seconds) }
        } else {
            try await site.fault(what) { try await shift(site, clock, by: seconds) }
        }
        try await site.pause(milliseconds: 200...2_000)
    }

    /// Steps the clock, and checks that the intended processes see the step. Without root privileges, or if they cannot
    /// enter a folder, they might not see it, and the drill would pass without a test.
    private func shift(_ site: DrillSite, _ clock: ShiftedClock, by seconds: Int64) async throws {
        try clock.set(.seconds(seconds))
        switch place {
        case .host:
            for host in site.hosts.dropFirst() { try await site.untilProcesses(of: host, use: clock) }
            try await site.untilDatabaseClock(isAheadBy: 0)
        case .database: try await site.untilDatabaseClock(isAheadBy: seconds)
        }
    }

    /// Starts a delivery while the clock is far ahead. Its parts become due by that clock, and retries a second later.
    /// None of them may wait until the correct clock has caught up.
    private func sendAgainLater(_ site: DrillSite, _ audience: [String], _ clock: ShiftedClock) async throws {
        try await shift(site, clock, by: 600)
        for (gateway, reason) in [("apns", "ServiceUnavailable"), ("fcm", "UNAVAILABLE")] {
            var plan = GatewayPlan.errors(reason, rate: 0.02, retryAfter: "1")
            plan.faults.append(("max_concurrent_streams", .integer(Int64(Self.streams))))
            try await site.setPlan(plan, gateway)
        }
        let delivery = try await site.deliver(to: audience) { $0.retryPeriodSeconds = 1 }
        try await untilUnderWay(site, delivery)
        for seconds in site.shuffled(Self.steps) {
            try await shift(site, clock, by: seconds)
            try await site.pause(milliseconds: 200...1_000)
        }
        try await shift(site, clock, by: -600)
        try await site.untilOver(delivery, timeout: Self.timeout)
    }

    /// Children that last read the clock when it was far ahead send messages that are valid for only minutes.
    private func sendInTime(_ site: DrillSite, _ audience: [String], _ clock: ShiftedClock) async throws {
        try await shift(site, clock, by: 600)
        for host in site.hosts { try await host.stop() }
        for host in site.hosts { try await host.start() }
        try await site.until("children of both hosts", within: .seconds(60)) {
            Set(try await site.children().map(\.hostID)).count == site.hosts.count
        }
        // A child reads the clock a moment after its row is stored.
        try await site.pause(milliseconds: 1_000...2_000)
        try await shift(site, clock, by: -600)
        let delivery = try await site.deliver(to: audience) { $0.validitySeconds = Self.validity }
        try await site.untilOver(delivery, timeout: Self.timeout)
    }

    private func untilUnderWay(_ site: DrillSite, _ delivery: DrillDelivery) async throws {
        try await site.until("delivery \(delivery.id) is under way", within: .seconds(60)) {
            try await site.progress(delivery).sent > 0
        }
    }

    private func expectAllSent(_ site: DrillSite) async throws {
        for delivery in site.deliveries {
            let progress = try await site.progress(delivery)
            site.expect(
                progress.sent == progress.target,
                "delivery \(delivery.id): \(progress.sent) of \(progress.target) sent, \(progress.ignored) ignored, "
                    + "\(progress.failed) failed"
            )
        }
    }
}

extension DrillSite {
    /// The tolerance for a clock read over a connection, in seconds: less than the smallest step.
    private static let clockTolerance = 10.0
    /// How soon a step must be visible.
    private static let clockLimit = Duration.seconds(20)

    /// Waits until the database's clock is ahead of this machine's by this many seconds.
    ///
    /// - Throws: `DrillFailure` if it is not: then the server does not see the shifted clock, and the drill would prove
    ///   nothing.
    func untilDatabaseClock(isAheadBy seconds: Int64) async throws {
        try await until("the database's clock is off by \(seconds) s", within: Self.clockLimit) {
            let shown = try await Double(store().databaseClock().microsecondsSince1970) / 1_000_000
            return abs(shown - Date().timeIntervalSince1970 - Double(seconds)) < Self.clockTolerance
        }
    }

    /// Waits until a host's supervisor and children have loaded the library and mapped the file of the shifted clock.
    ///
    /// - Throws: `DrillFailure` if they have not: then they see the correct clock, and the drill would prove nothing.
    func untilProcesses(of host: DrillHost, use clock: ShiftedClock) async throws {
        try await until("supervisor and children of host \(host.name) see the shifted clock", within: Self.clockLimit) {
            let children = host.childIDs()
            guard let supervisor = host.supervisorID, !children.isEmpty else { return false }
            return ([supervisor] + children).allSatisfy { clock.isUsed(by: $0) }
        }
    }
}

/// A wall clock with a chosen shift, for processes that are started with its environment.
///
/// Their monotonic clocks stay correct, as on a machine whose wall clock is stepped. The library of target ClockShift
/// adds the shift. It reads the shift from a mapped file, so that processes see a step when they next read the clock.
struct ShiftedClock: Sendable {
    /// The folder of the file with the shift.
    private let folder: String
    /// The file with the shift.
    private let file: FilePath
    /// The library that the processes load.
    private let library: String

    /// A clock for a drill's processes, initially correct.
    ///
    /// - Parameters:
    ///   - folder: A folder for the file. Every user must be able to enter it, as the servers run as other users.
    ///   - programs: PushMTA's programs; the library is in their folder.
    /// - Throws: `CommandFailure` if the library was not built.
    init(folder: String, programs: Executables) throws {
        self.folder = folder
        library = programs.library("libClockShift.so")
        guard FileManager.default.fileExists(atPath: library) else {
            throw CommandFailure(
                .unavailable,
                "\(library) is not there: build it with swift build -c release --product ClockShift"
            )
        }
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o755]
        )
        file = FilePath(folder + "/clock-shift")
        try set(.zero)
    }

    /// The environment variables for the processes.
    var environment: [String: String] {
        ["LD_PRELOAD": library, "CLOCK_SHIFT_FILE": file.string]
    }

    /// Steps the clock so that it is ahead of the machine's by `shift`; a negative shift puts it behind.
    func set(_ shift: Duration) throws {
        let (seconds, attoseconds) = shift.components
        let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        let bits = UInt64(bitPattern: nanoseconds)
        // The number is in the machine's byte order, because the library maps the file as a number.
        let shifts = (0..<8).map { UInt64($0) * 8 }
        let bytes = shifts.map { UInt8(truncatingIfNeeded: bits.littleEndian >> $0) }
        let descriptor = try FileDescriptor.open(
            file,
            .readWrite,
            options: [.create],
            permissions: [.ownerReadWrite, .groupRead, .otherRead]
        )
        try descriptor.closeAfter { _ = try descriptor.writeAll(toAbsoluteOffset: 0, bytes) }
    }

    /// Whether a process has loaded the library and mapped the file with the shift. The dynamic linker only warns about
    /// a library that it cannot load, and a library that cannot open its file shifts nothing.
    func isUsed(by process: Int32) -> Bool {
        let lines = Self.maps(of: process).split(separator: "\n")
        // The kernel lists paths with symbolic links resolved.
        let paths = [library, file.string].map { URL(fileURLWithPath: $0).resolvingSymlinksInPath().path }
        return paths.allSatisfy { path in lines.contains { $0.hasSuffix(" " + path) } }
    }

    /// The contents of a process's `/proc/PID/maps`; empty if it has ended. The kernel returns one page per read, and a
    /// reader of whole files would take the first short read as the end.
    private static func maps(of process: Int32) -> String {
        guard let handle = FileHandle(forReadingAtPath: "/proc/\(process)/maps") else { return "" }
        defer { try? handle.close() }
        var bytes = Data()
        while let piece = try? handle.read(upToCount: 4_096), !piece.isEmpty { bytes.append(piece) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A shell command that removes the folder.
    var removalCommand: String { "rm -rf '\(folder)'" }

    /// Removes the folder. Processes that have mapped the file keep the last shift.
    func remove() {
        try? FileManager.default.removeItem(atPath: folder)
    }
}
