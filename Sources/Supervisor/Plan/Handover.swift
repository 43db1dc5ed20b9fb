/// One child on its way out and the one that is to do its work.
struct Handover: Sendable, Equatable {
    var old: Int32
    var new: Int32
    var since: ContinuousClock.Instant
}
