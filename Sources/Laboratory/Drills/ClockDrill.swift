import Administration
import Foundation
import PushCore
import Store
import SystemPackage

/// The wall clock of one host, or of the database's host, is wrong by up to ten minutes and steps.
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
    let promise = "no lease lost or stolen, no message expired or kept back"
    let needs: [DrillNeed] = [.simulator]

    /// How far the clock is off, in seconds: far ahead, far behind, a little, and right again.
    private static let steps: [Int64] = [600, -600, 0, 45, -45, 600, -600]

    /// How long the last messages are valid, in seconds: for less than a clock is off.
    private static let validity: Int64 = 300
    /// How long a delivery may stand still before it counts as kept back: far less than a clock is off.
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
        try await site.keepSending(to: audience)
        let rate = try await site.undisturbedRate()
        for number in 1...minimumFaults { try await step(site, clock, number, rate) }
        try await site.untilOver()
        try await sendAgainLater(site, audience, clock)
        try await sendInTime(site, audience, clock)
        try await site.expectNoLostLease(once: true)
        try await expectAllSent(site)
    }

    private func step(_ site: DrillSite, _ clock: ShiftedClock, _ number: Int, _ rate: Double) async throws {
        // Each shift comes at least once, and some more by chance.
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

    /// Steps the clock and looks whether the right ones see it: without root's rights, or where a folder cannot be entered,
    /// they might not, and every promise would be kept.
    private func shift(_ site: DrillSite, _ clock: ShiftedClock, by seconds: Int64) async throws {
        try clock.set(.seconds(seconds))
        switch place {
        case .host:
            for host in site.hosts.dropFirst() { try await site.untilProcesses(of: host, use: clock) }
            try await site.untilDatabaseClock(isAheadBy: 0)
        case .database: try await site.untilDatabaseClock(isAheadBy: seconds)
        }
    }

    /// A delivery that begins while the clock is far ahead has parts that are due then, and messages that are to be sent again a
    /// second later. None of them may wait until the right clock gets there.
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

    /// Children that have last seen the clock when it was far ahead send messages that are valid for minutes only.
    private func sendInTime(_ site: DrillSite, _ audience: [String], _ clock: ShiftedClock) async throws {
        try await shift(site, clock, by: 600)
        for host in site.hosts { try await host.stop() }
        for host in site.hosts { try await host.start() }
        try await site.until("children of both hosts", within: .seconds(60)) {
            Set(try await site.children().map(\.hostID)).count == site.hosts.count
        }
        // A child that has its row reads the clock a moment later.
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
                "delivery \(delivery.id): \(progress.sent) of \(progress.target) sent, \(progress.ignored) ignored, \(progress.failed) failed"
            )
        }
    }
}

extension DrillSite {
    /// How far a clock that is read over a connection may be off from what was set, in seconds: less than the smallest shift.
    private static let clockTolerance = 10.0
    /// How soon a clock has to show its shift.
    private static let clockLimit = Duration.seconds(20)

    /// Waits until the database shows a clock that is ahead of this machine's by so many seconds.
    ///
    /// - Throws: `DrillFailure` if it does not: its server does not see the shifted clock, and the drill would prove nothing.
    func untilDatabaseClock(isAheadBy seconds: Int64) async throws {
        try await until("the database's clock is off by \(seconds) s", within: Self.clockLimit) {
            let shown = try await Double(store().databaseClock().microsecondsSince1970) / 1_000_000
            return abs(shown - Date().timeIntervalSince1970 - Double(seconds)) < Self.clockTolerance
        }
    }

    /// Waits until supervisor and children of a host have loaded the library and the file of the shifted clock.
    ///
    /// - Throws: `DrillFailure` if they do not: they see the right clock, and the drill would prove nothing.
    func untilProcesses(of host: DrillHost, use clock: ShiftedClock) async throws {
        try await until("supervisor and children of host \(host.name) see the shifted clock", within: Self.clockLimit) {
            let children = host.childIDs()
            guard let supervisor = host.supervisorID, !children.isEmpty else { return false }
            return ([supervisor] + children).allSatisfy { clock.isUsed(by: $0) }
        }
    }
}

/// A wall clock that is wrong by what we say, for processes that are started with its environment.
///
/// Their monotonic clocks are right, as on a machine whose wall clock is stepped. The library of target ClockShift does it; it
/// reads the shift from a mapped file, so that a step is seen at the next look at the clock.
struct ShiftedClock: Sendable {
    /// The folder of the file with the shift.
    private let folder: String
    /// The file with the shift.
    private let file: FilePath
    /// The library that the processes load.
    private let library: String

    /// A clock for the processes of a drill; it is right at first.
    ///
    /// - Parameters:
    ///   - folder: for the file alone; every user must be able to reach it, as servers run as others.
    ///   - programs: the product's programs, beside which the library lies.
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

    /// What the processes need in their environment.
    var environment: [String: String] {
        ["LD_PRELOAD": library, "CLOCK_SHIFT_FILE": file.string]
    }

    /// Steps the clock so that it is ahead of the machine's by this much; behind, if negative.
    func set(_ shift: Duration) throws {
        let (seconds, attoseconds) = shift.components
        let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        let bits = UInt64(bitPattern: nanoseconds)
        // The machine's byte order: the library maps the file as a number.
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

    /// Whether a process has loaded the library and mapped the file with the shift. A library that cannot be loaded is only
    /// warned of, and one that cannot open its file shifts nothing.
    func isUsed(by process: Int32) -> Bool {
        let lines = Self.maps(of: process).split(separator: "\n")
        // The kernel names files without the links on the way to them.
        let paths = [library, file.string].map { URL(fileURLWithPath: $0).resolvingSymlinksInPath().path }
        return paths.allSatisfy { path in lines.contains { $0.hasSuffix(" " + path) } }
    }

    /// What a process has mapped, as Linux says it; empty if it has ended. The kernel gives it a page at a time, where a reader of
    /// whole files takes the first short answer for the end.
    private static func maps(of process: Int32) -> String {
        guard let handle = FileHandle(forReadingAtPath: "/proc/\(process)/maps") else { return "" }
        defer { try? handle.close() }
        var bytes = Data()
        while let piece = try? handle.read(upToCount: 4_096), !piece.isEmpty { bytes.append(piece) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A command for the shell that removes the folder.
    var removalCommand: String { "rm -rf '\(folder)'" }

    /// Removes the folder; processes that have mapped the file keep the last shift.
    func remove() {
        try? FileManager.default.removeItem(atPath: folder)
    }
}
