import PushCore
import Store

/// How fast the child may send: the limits on all its messages, and those on single deliveries.
///
/// A message needs room in every limit that applies to it. All hosts share the rates, so a child requests its share in
/// slices.
struct SendingPace: Sendable {
    /// A limit, and this child's share of it.
    struct Limit: Sendable {
        var share: RateShare
        var isProject = false
        /// Messages that the limit held back in the last pass.
        var waiting = 0
        /// Messages that may leave in the current pass.
        var room = 0
    }

    /// A limited delivery has enough messages loaded if they last for this long: it covers the next claim and load.
    private static let enough = Duration.seconds(1)

    private var limits: [Int64: Limit] = [:]
    /// The limits that apply to every message.
    private var common: [Int64] = []
    /// The limit of each delivery that has one.
    private var deliveries: [Int64: Int64] = [:]
    /// When the timer fires; nil if none is set.
    private var timer: Duration?
    /// Why the gateway finds the project's rate too high; nil if it does not.
    private var refusal: String?

    /// Whether nothing is limited.
    var isFree: Bool { limits.isEmpty }

    /// Whether a limit held messages back in the last pass.
    var keepsBack: Bool { limits.values.contains { $0.waiting > 0 && $0.room <= 0 } }

    /// The limit of the project, if it has any.
    var projectLimit: Int64? {
        common.first { limits[$0]?.isProject == true && limits[$0]?.share.rate.isFinite == true }
    }

    // MARK: Limits

    /// Replaces the limits by those just read. Deliveries that were not asked for, because they came meanwhile, keep
    /// what is known.
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

    /// Notes the limit of a claimed part's delivery, which the database may not have been asked for yet.
    mutating func claim(_ delivery: Int64, _ limit: RateLimit?) {
        guard let limit, deliveries[delivery] == nil else { return }
        if limits[limit.id] == nil { limits[limit.id] = Limit(share: RateShare(rate: limit.messagesPerSecond)) }
        deliveries[delivery] = limit.id
    }

    // MARK: Passes over the waiting messages

    /// Begins a pass over the waiting messages.
    mutating func begin(at moment: Duration) {
        for id in limits.keys {
            guard var limit = limits[id] else { continue }
            limit.room = limit.share.room(for: max(1, limit.waiting), at: moment)
            limit.waiting = 0
            limits[id] = limit
        }
    }

    /// Whether a common limit lets nothing more leave in this pass and more waits than a slice holds: the rest need not
    /// be counted.
    var knowsEnough: Bool {
        common.contains { id in
            guard let limit = limits[id], limit.room <= 0 else { return false }
            return Double(limit.waiting) > limit.share.rate
        }
    }

    /// How many of this many messages of a delivery may leave in this pass.
    mutating func room(for messages: Int, of delivery: Int64) -> Int {
        var room = messages
        for id in ids(delivery) {
            limits[id]?.waiting += messages
            room = min(room, limits[id]?.room ?? room)
        }
        return max(0, room)
    }

    /// Counts messages of a delivery that leave.
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

    /// How long until the next look, if the timer has to be set for it.
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

    /// Whether slices have to be requested.
    func needsSlices(at moment: Duration) -> Bool {
        limits.values.contains { $0.share.wanted(for: $0.waiting, at: moment) > 0 }
    }

    /// The slices to request; they are then marked as requested.
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

    /// The messages that could leave within a slice's time as far as other limits allow. A delivery with a lower rate
    /// thus requests no more than it can use.
    private func demand(_ limit: Limit, _ id: Int64) -> Int {
        guard common.contains(id), !deliveries.isEmpty else { return limit.waiting }
        var ofLimited = 0
        var usable = 0.0
        for other in Set(deliveries.values) {
            guard let delivery = limits[other] else { continue }
            ofLimited += delivery.waiting
            usable += min(
                Double(delivery.waiting),
                (delivery.share.rate * (RateShare.slice / .seconds(1))).rounded(.up)
            )
        }
        return limit.waiting - min(limit.waiting, ofLimited) + Int(min(usable, 1_000_000_000))
    }

    /// Takes the granted slices; a requested limit without one counts as a failed request.
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

    /// Notes that the gateway finds the project's rate too high.
    mutating func refused(_ reason: String) {
        if projectLimit != nil { refusal = reason }
    }

    /// The gateway's complaint about the project's rate, returned once.
    mutating func takeRefusal() -> (limit: Int64, reason: String)? {
        guard let reason = refusal, let limit = projectLimit else { return nil }
        refusal = nil
        return (limit, reason)
    }

    // MARK: Loading

    /// Whether a delivery is limited and this many of its messages are enough for now.
    func isEnough(_ messages: Int, of delivery: Int64) -> Bool {
        guard let id = deliveries[delivery], let rate = limits[id]?.share.rate else { return false }
        return Double(messages) >= rate * (Self.enough / .seconds(1))
    }
}
