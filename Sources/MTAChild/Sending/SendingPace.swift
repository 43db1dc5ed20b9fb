import PushCore
import Store

/// How fast the child may send: the limits that hold for all of its messages, and those of single deliveries.
///
/// A message needs room in every limit that holds for it. The rates are shared by all hosts, so what may leave is asked for in slices.
struct SendingPace: Sendable {
    /// A limit, and what this child has of it.
    struct Limit: Sendable {
        var share: RateShare
        var isProject = false
        /// Messages that would leave if the limit did not keep them, as the last pass found.
        var waiting = 0
        /// Messages that may leave in the present pass.
        var room = 0
    }

    /// A limited delivery has enough in the child with so many messages: what leaves while others are claimed and loaded.
    private static let enough = Duration.seconds(1)

    private var limits: [Int64: Limit] = [:]
    /// The limits that hold for every message.
    private var common: [Int64] = []
    /// The limit of each delivery that has one.
    private var deliveries: [Int64: Int64] = [:]
    /// When the timer that is set fires.
    private var timer: Duration?
    /// The gateway has said that the project's rate is too high; why.
    private var refusal: String?

    /// Nothing is limited.
    var isFree: Bool { limits.isEmpty }

    /// Whether the last pass found messages that a limit keeps.
    var keepsBack: Bool { limits.values.contains { $0.waiting > 0 && $0.room <= 0 } }

    /// The limit of the project, if it has any.
    var projectLimit: Int64? {
        common.first { limits[$0]?.isProject == true && limits[$0]?.share.rate.isFinite == true }
    }

    // MARK: What is limited

    /// These are the limits now, as far as they were asked for: of deliveries that came meanwhile, what was known stays.
    mutating func take(_ seen: [RateLimit], asked: Set<Int64>, held: Set<Int64>) {
        var kept: [Int64: Limit] = [:]
        common = []
        deliveries = deliveries.filter { held.contains($0.key) && !asked.contains($0.key) }
        for limit in deliveries.values { kept[limit] = limits[limit] }
        for limit in seen where limit.messagesPerSecond.isFinite {
            var known = limits[limit.id] ?? Limit(share: RateShare(rate: limit.messagesPerSecond))
            known.isProject = limit.isProject
            known.share.limit(limit.messagesPerSecond)
            kept[limit.id] = known
            if let delivery = limit.deliveryID { deliveries[delivery] = limit.id } else { common.append(limit.id) }
        }
        limits = kept
        common.sort()
    }

    /// A part of a delivery is here, of which the database may not have been asked yet.
    mutating func claim(_ delivery: Int64, _ limit: RateLimit?) {
        guard let limit, deliveries[delivery] == nil else { return }
        if limits[limit.id] == nil { limits[limit.id] = Limit(share: RateShare(rate: limit.messagesPerSecond)) }
        deliveries[delivery] = limit.id
    }

    // MARK: A pass over what waits

    /// Begins a pass over what waits.
    mutating func begin(at moment: Duration) {
        for id in limits.keys {
            guard var limit = limits[id] else { continue }
            limit.room = limit.share.room(for: max(1, limit.waiting), at: moment)
            limit.waiting = 0
            limits[id] = limit
        }
    }

    /// Whether nothing more may leave in this pass, and more waits than a slice holds: the others need not be counted.
    var knowsEnough: Bool {
        common.contains { id in
            guard let limit = limits[id], limit.room <= 0 else { return false }
            return Double(limit.waiting) > limit.share.rate
        }
    }

    /// How many of some messages of a delivery may leave in this pass.
    mutating func room(for messages: Int, of delivery: Int64) -> Int {
        var room = messages
        for id in ids(delivery) {
            limits[id]?.waiting += messages
            room = min(room, limits[id]?.room ?? room)
        }
        return max(0, room)
    }

    /// Messages of a delivery leave.
    mutating func use(_ messages: Int, of delivery: Int64, at moment: Duration) {
        for id in ids(delivery) {
            limits[id]?.room -= messages
            limits[id]?.share.use(messages, at: moment)
        }
    }

    /// Whether a limit of a delivery lets no more leave in this pass.
    func holds(_ delivery: Int64) -> Bool {
        ids(delivery).contains { id in limits[id].map { $0.waiting > 0 && $0.room <= 0 } ?? false }
    }

    /// When to look again, if the timer has to be set for it.
    mutating func nextLook(at moment: Duration) -> Duration? {
        let next = limits.values.filter { $0.waiting > 0 }.compactMap { $0.share.nextLook(at: moment) }.min()
        guard let next, timer.map({ next < $0 || $0 <= moment }) ?? true else { return nil }
        timer = next
        return next - moment
    }

    mutating func timerFired() {
        timer = nil
    }

    private func ids(_ delivery: Int64) -> [Int64] {
        deliveries[delivery].map { common + [$0] } ?? common
    }

    // MARK: Slices

    /// Whether slices have to be asked for.
    func needsSlices(at moment: Duration) -> Bool {
        limits.values.contains { $0.share.wanted(for: $0.waiting, at: moment) > 0 }
    }

    /// The slices to ask for; they count as asked for.
    mutating func slicesToAsk(at moment: Duration) -> [(limit: Int64, messages: Int32)] {
        var asks: [(limit: Int64, messages: Int32)] = []
        for (id, limit) in limits.sorted(by: { $0.key < $1.key }) {
            let wanted = limit.share.wanted(for: demand(limit, id), at: moment)
            guard wanted > 0 else { continue }
            limits[id]?.share.ask()
            asks.append((id, Int32(clamping: wanted)))
        }
        return asks
    }

    /// The messages that could leave within a slice's time as far as other limits go: what deliveries with less use is not taken from others.
    private func demand(_ limit: Limit, _ id: Int64) -> Int {
        guard common.contains(id), !deliveries.isEmpty else { return limit.waiting }
        var ofLimited = 0
        var most = 0.0
        for other in Set(deliveries.values) {
            guard let delivery = limits[other] else { continue }
            ofLimited += delivery.waiting
            most += min(
                Double(delivery.waiting),
                (delivery.share.rate * (RateShare.slice / .seconds(1))).rounded(.up)
            )
        }
        return limit.waiting - min(limit.waiting, ofLimited) + Int(min(most, 1_000_000_000))
    }

    /// Slices are there, or the attempt to get them has failed for those that are not.
    mutating func take(_ slices: [RateSlice], askedFor: [Int64], at moment: Duration) {
        for id in askedFor { limits[id]?.share.askFailed() }
        for slice in slices {
            limits[slice.limit]?.share.granted(
                Int(slice.messages),
                rate: slice.messagesPerSecond,
                startsIn: slice.startsIn,
                at: moment
            )
        }
    }

    // MARK: Refusals

    /// The gateway has said that the project sends too fast.
    mutating func refused(_ reason: String) {
        if projectLimit != nil { refusal = reason }
    }

    /// What the gateway has said of the project's rate, once.
    mutating func takeRefusal() -> (limit: Int64, reason: String)? {
        guard let reason = refusal, let limit = projectLimit else { return nil }
        refusal = nil
        return (limit, reason)
    }

    // MARK: What is loaded

    /// Whether a delivery is limited, and this many of its messages are enough for a while.
    func isEnough(_ messages: Int, of delivery: Int64) -> Bool {
        guard let id = deliveries[delivery], let rate = limits[id]?.share.rate else { return false }
        return Double(messages) >= rate * (Self.enough / .seconds(1))
    }
}
