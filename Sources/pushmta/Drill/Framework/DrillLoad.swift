import PushCore
import Store

/// The deliveries that keep a drill busy: another one starts when all are over.
struct DrillLoad: Sendable {
    /// The applications that each goes to.
    let audience: [String]
    /// What becomes of ambiguous messages.
    let policy: AmbiguityPolicy
    /// Changes each before it is created.
    let change: @Sendable (inout NewDelivery) -> Void
}
