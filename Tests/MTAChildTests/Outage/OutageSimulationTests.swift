import PushCore
import Testing

@testable import MTAChild
@testable import Store

/// An hour and a day of a gateway's outage on a manual clock: real dispatch states, detectors, probes and ramps with default settings.
///
/// Times are those of the simulation. The seed repeats gateway, probes and dials; dispatch states draw the pauses of retries themselves.
@Suite struct OutageSimulationTests {
    /// A kind of outage.
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        var answer: OutageAnswer?
        var isSilent = false
        var share = 1.0

        var testDescription: String { name }

        var gateway: OutageWorld.Gateway {
            if let answer { return .answers(answer, share: share) }
            return isSilent ? .silent : .refused
        }

        /// Seconds until the outage must have been detected; silence is detected when requests time out.
        var notice: Int { isSilent ? 31 : 3 }
    }

    private static func page(_ platform: Platform, _ status: Int16) -> OutageAnswer {
        OutageAnswer(platform: platform, status: status, body: "<html><h1>\(status)</h1></html>")
    }

    private static func apns(_ status: Int16, _ reason: String, retryAfter: Int32? = nil) -> OutageAnswer {
        OutageAnswer(
            platform: .ios,
            status: status,
            body: #"{"reason":"\#(reason)"}"#,
            retryAfterSeconds: retryAfter
        )
    }

    private static func fcm(_ status: Int16, _ code: String, retryAfter: Int32? = nil) -> OutageAnswer {
        let details = #"[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#(code)"}]"#
        return OutageAnswer(
            platform: .android,
            status: status,
            body: #"{"error":{"code":\#(status),"message":"m","status":"\#(code)","details":\#(details)}}"#,
            retryAfterSeconds: retryAfter
        )
    }

    private static let half = Row(name: "half of FCM 503", answer: fcm(503, "UNAVAILABLE"), share: 0.5)
    private static let silence = Row(name: "silence", isSilent: true)
    private static let asked = Row(name: "FCM 503, Retry-After 1", answer: fcm(503, "UNAVAILABLE", retryAfter: 1))
    private static let rows = [
        Row(name: "FCM 503", answer: fcm(503, "UNAVAILABLE")), asked,
        Row(name: "APNs 503, Retry-After 2", answer: apns(503, "ServiceUnavailable", retryAfter: 2)),
        Row(name: "FCM 502 HTML", answer: page(.android, 502)),
        Row(name: "FCM 429 QUOTA_EXCEEDED", answer: fcm(429, "QUOTA_EXCEEDED")),
        Row(name: "APNs 421 HTML", answer: page(.ios, 421)), Row(name: "APNs 407 HTML", answer: page(.ios, 407)),
        Row(name: "FCM 400 HTML", answer: page(.android, 400)),
        Row(name: "APNs 500", answer: apns(500, "InternalServerError")), silence, Row(name: "refused"),
    ]

    private static let hour = 3_600
    /// Seconds before the outage, which give the usual rate.
    private static let before = 20

    /// How the database's clock is changed in the middle.
    enum Step: Sendable, CaseIterable {
        case none, forward, back, backAfterKill

        var seconds: Int64 {
            switch self {
            case .none: 0
            case .forward: 3_600
            case .back, .backAfterKill: -3_600
            }
        }
    }

    /// Runs an outage of this many seconds and its aftermath, and returns the world's final state.
    private func run(_ row: Row, seconds: Int, step: Step = .none, seed: UInt64) throws -> OutageWorld {
        let world = try OutageWorld(seed: seed)
        let begin = Int64(Self.before) * 1_000
        let length = Int64(seconds) * 1_000
        let end = begin + length
        world.run(until: begin)
        world.become(row.gateway)
        world.run(until: begin + 2_000)
        // Single messages arrive: some expire in the middle of the outage, some half an hour after it.
        for _ in 0..<200 { world.database.add(1, group: "single", of: world.single, priority: 10) }
        let short = world.now + length / 2
        for _ in 0..<20 { world.database.add(1, group: "short", of: world.single, priority: 10, validUntil: short) }
        let long = world.now + length + 1_800_000
        for _ in 0..<20 { world.database.add(1, group: "long", of: world.single, priority: 10, validUntil: long) }
        world.run(until: begin + length / 3)
        if step == .backAfterKill { world.killProber() }
        world.stepClock(step.seconds * 1_000)
        world.run(until: end)
        world.become(.well)
        world.run(until: end + 40_000)
        world.endSupply()
        // The longest wait is that of a message refused, or not answered, before the outage was detected.
        for minute in 1...90 where !world.database.parts.isEmpty {
            world.run(until: end + 40_000 + Int64(minute) * 60_000)
        }
        return world
    }

    private func check(_ world: OutageWorld, _ row: Row, seconds: Int, step: Step = .none, _ place: String) {
        #expect(world.failures == [] && world.database.failures == [], "\(place)")
        #expect(world.database.parts.isEmpty, "\(place): \(world.database.parts.count) parts are left")
        #expect(world.entered > 0, "\(place): the trouble was never found out")
        checkMessages(world, row, step: step, place)
        let first = Self.before + row.notice
        let out = world.seconds[min(first, world.seconds.count)..<min(Self.before + seconds, world.seconds.count)]
        if row.share == 1 {
            #expect(out.map(\.requests).max() ?? 0 <= 10, "\(place)")
            checkProbes(world, row, seconds: seconds, place)
        }
        #expect(out.map(\.dials).max() ?? 0 <= 2, "\(place): dials")
        let usual = world.seconds[5..<Self.before].map(\.accepted).sorted()[(Self.before - 5) / 2]
        let after = world.seconds[(Self.before + seconds)...]
        let back = after.firstIndex { Double($0.accepted) >= 0.95 * Double(usual) } ?? .max
        #expect(usual > 300, "\(place): only \(usual) a second before")
        #expect(back - Self.before - seconds <= 20, "\(place): the rate was not back")
    }

    private func checkMessages(_ world: OutageWorld, _ row: Row, step: Step, _ place: String) {
        var counts: [String: [MessageStatus: Int]] = [:]
        var wrong = 0
        for (sequence, message) in world.database.messages {
            counts[message.group, default: [:]][message.status ?? .pending, default: 0] += 1
            if message.status == .sent, message.attempt != 1, !message.wasAmbiguous { wrong += 1 }
            if world.takes[sequence, default: 0] > 1, !message.wasAmbiguous { wrong += 1 }
        }
        #expect(wrong == 0, "\(place): \(wrong) untouched messages lost an attempt or were sent twice")
        #expect(counts["bulk"]?.keys.elementsEqual([.sent]) == true, "\(place): \(counts)")
        #expect(counts["single"] == [.sent: 200], "\(place): \(counts)")
        // Only validity uses the time of day: a skipped hour is over, and a repeated one is not.
        let isShortOver = step.seconds >= 0
        let isLongOver = step.seconds > 0
        for message in world.database.messages.values where ["short", "long"].contains(message.group) {
            let isOver = message.group == "short" ? isShortOver : isLongOver
            let hasPassed = row.share < 1 && message.status == .sent
            // A message that may have arrived does not end as expired.
            let isUnknown = message.wasAmbiguous && message.status == .unknown
            #expect(message.status == (isOver ? .ignored : .sent) || hasPassed || isUnknown, "\(place): \(counts)")
        }
    }

    /// A recovered gateway must be found soon, whatever the clocks show.
    private func checkProbes(_ world: OutageWorld, _ row: Row, seconds: Int, _ place: String) {
        guard !row.gateway.isRefused else { return }
        let end = Int64(Self.before + seconds) * 1_000
        let times = world.requestTimes.filter { $0 >= Int64(Self.before + row.notice) * 1_000 } + [end]
        let gaps = zip(times, times.dropFirst()).map { $1 - $0 }.sorted()
        // The lease of a killed prober, and the timeout of a request.
        let longest: Int64 = (row.isSilent ? 36_000 : 6_000) + 22_000
        #expect(gaps.last ?? .max <= longest, "\(place): \(gaps.last ?? 0) ms without a probe")
        let usual: Int64 = row.isSilent ? 36_000 : 8_000
        #expect(gaps[gaps.count / 2] <= usual, "\(place): \(gaps[gaps.count / 2]) ms between two probes")
    }

    @Test(arguments: rows) func anHour(_ row: Row) throws {
        let seed = UInt64.random(in: .min ... .max)
        print("an hour of \(row.name): seed \(seed)")
        let world = try run(row, seconds: Self.hour, seed: seed)
        check(world, row, seconds: Self.hour, "\(row.name), seed \(seed)")
    }

    @Test(arguments: [asked, silence]) func aDay(_ row: Row) throws {
        let seed = UInt64.random(in: .min ... .max)
        print("a day of \(row.name): seed \(seed)")
        let world = try run(row, seconds: 24 * Self.hour, seed: seed)
        check(world, row, seconds: 24 * Self.hour, "\(row.name), seed \(seed)")
    }

    /// Half of the sending continues, so there is much more to do: this simulates ten minutes.
    @Test func halfOfTheRequests() throws {
        let seed = UInt64.random(in: .min ... .max)
        print("\(Self.half.name): seed \(seed)")
        let world = try run(Self.half, seconds: 600, seed: seed)
        check(world, Self.half, seconds: 600, "\(Self.half.name), seed \(seed)")
    }

    @Test(arguments: Step.allCases.filter { $0 != .none }, [asked, silence])
    func aClockThatIsSetConcernsValidityOnly(_ step: Step, _ row: Row) throws {
        let seed = UInt64.random(in: .min ... .max)
        print("an hour of \(row.name), clock \(step): seed \(seed)")
        let world = try run(row, seconds: Self.hour, step: step, seed: seed)
        check(world, row, seconds: Self.hour, step: step, "\(row.name), clock \(step), seed \(seed)")
    }
}
