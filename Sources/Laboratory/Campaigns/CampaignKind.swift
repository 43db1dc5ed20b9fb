import PushCore
import Store

/// What makes a drill's delivery a campaign.
enum CampaignKind: Sendable, Hashable {
    /// Three waves by percent, each with a guard and a pause.
    case waves
    /// A moment on each recipient's clock. Where it has passed, the message leaves at once or not at all.
    case localTime(skipsPast: Bool)
    /// A frequency cap of a category, which several deliveries share.
    case capped(category: String)
    /// Two variants, a hold-out, and a rest that gets the winner.
    case experiment

    /// The maximum number of deliveries of a category for a person of one device.
    static let cap = 2

    /// The time zones of the people. The first one is the last to reach a moment.
    static let zones = ["Pacific/Honolulu", "America/New_York", "Europe/Berlin", "Asia/Kolkata"]

    /// Seconds until the local time comes in the first zone. It has passed everywhere else.
    static let localTimeAfter: Int32 = 5

    /// The reason for which preparation leaves people out; nil if it leaves out nobody.
    var exclusion: String? {
        switch self {
        case .waves, .localTime: nil
        case .capped: "frequency_cap"
        case .experiment: "hold_out"
        }
    }

    /// The statuses other than sent in which its messages may end.
    var endings: Set<MessageStatus> {
        self == .localTime(skipsPast: true) ? [.ignored] : []
    }

    var category: String? {
        if case .capped(let category) = self { category } else { nil }
    }

    /// Its plan; nil if it has none.
    ///
    /// - Parameter localTime: The moment on the recipients' clocks.
    func plan(localTime: String) -> DeliveryPlan? {
        var plan = DeliveryPlan()
        switch self {
        case .waves:
            plan.waves = [DeliveryPlan.Wave(.percent(10)), DeliveryPlan.Wave(.percent(30)), DeliveryPlan.Wave()]
            plan.waves[0].maxFailed = 0.01
            plan.waves[1].maxFailed = 0.01
            plan.waves[1].afterSeconds = 2
        case .localTime(let skipsPast):
            plan.localTime = localTime
            plan.onPast = skipsPast ? .skip : .now
        case .capped, .experiment: return nil
        }
        return plan
    }

    /// Its experiment; nil if it is none. Without clicks no variant is better, so the rest gets the first one in time.
    var experiment: ExperimentRule? {
        guard self == .experiment else { return nil }
        var rule = ExperimentRule(variants: [
            ExperimentRule.Variant(percent: 30),
            ExperimentRule.Variant(
                percent: 30,
                content: #"{"ios": {"title": "Hello"}, "android": {"title": "Hello"}}"#
            ),
        ])
        rule.decideAfterSeconds = 4
        rule.isEarly = false
        rule.holdOutPercent = 10
        return rule
    }
}
