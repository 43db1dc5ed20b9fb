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
    /// All of it: two waves, a local time, a cap, and two variants with a hold-out. Drill `campaign` recalls it.
    case whole(category: String)

    /// The maximum number of deliveries of a category for a person of one device.
    static let cap = 2

    /// The time zones of the people. The first one is the last to reach a moment.
    static let zones = ["Pacific/Honolulu", "America/New_York", "Europe/Berlin", "Asia/Kolkata"]

    /// Seconds until the local time comes in the first zone. It has passed everywhere else.
    static let localTimeAfter: Int32 = 5

    /// The reasons for which preparation may leave people out.
    var exclusions: Set<String> {
        switch self {
        case .waves, .localTime: []
        case .capped: ["frequency_cap"]
        case .experiment: ["hold_out"]
        case .whole: ["frequency_cap", "hold_out"]
        }
    }

    /// The statuses other than sent in which its messages may end.
    var endings: Set<MessageStatus> {
        switch self {
        case .waves, .capped, .experiment: []
        case .localTime(let skipsPast): skipsPast ? [.ignored] : []
        case .whole: [.ignored, .failed, .canceled, .unknown]
        }
    }

    /// The category whose cap it is under; nil for none.
    var category: String? {
        switch self {
        case .waves, .localTime, .experiment: nil
        case .capped(let category), .whole(let category): category
        }
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
        case .whole:
            plan.localTime = localTime
            plan.onPast = .now
            plan.waves = [DeliveryPlan.Wave(.percent(20)), DeliveryPlan.Wave()]
            plan.waves[0].maxFailed = 0.1
            plan.waves[1].afterSeconds = 2
        case .capped, .experiment: return nil
        }
        return plan
    }

    /// Its experiment; nil if it is none. Without clicks no variant is better, so the rest gets the first one in time.
    var experiment: ExperimentRule? {
        var percent = 30.0
        switch self {
        case .waves, .localTime, .capped: return nil
        case .experiment: break
        // Without a rest, which a local time would let wait for hours.
        case .whole: percent = 45
        }
        var rule = ExperimentRule(variants: [
            ExperimentRule.Variant(percent: percent),
            ExperimentRule.Variant(percent: percent, content: Self.otherVariant),
        ])
        rule.decideAfterSeconds = self == .experiment ? 4 : nil
        rule.isEarly = false
        rule.holdOutPercent = 10
        return rule
    }

    /// The content of the second variant. The keys by which a recall replaces messages are those of the first one.
    private static let otherVariant = """
        {"ios": {"title": "Hello", "collapse_id": "sale"}, "android": {"title": "Hello", "tag": "sale"}, \
        "locales": {"de": {"ios": {"title": "Hallo"}, "android": {"title": "Hallo"}}, \
        "fr": {"ios": {"title": "Bonjour"}, "android": {"title": "Bonjour"}}}}
        """
}
