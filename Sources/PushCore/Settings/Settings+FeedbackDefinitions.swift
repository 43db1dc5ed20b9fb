extension Settings {
    /// A century: nobody wants to wait for more.
    private static let days = 0...36_500

    static let feedbackDefinitions: [SettingDefinition] = [
        .init(
            "feedback.shareWhileSendingPercent",
            unit: "percent",
            .integer(\.feedback.shareWhileSendingPercent, 1...100)
        ),
        .init("feedback.retention.broadLogDays", unit: "days", .integer(\.feedback.retention.broadLogDays, days)),
        .init("feedback.retention.trackingLogDays", unit: "days", .integer(\.feedback.retention.trackingLogDays, days)),
        .init(
            "feedback.retention.exclusionLogDays",
            unit: "days",
            .integer(\.feedback.retention.exclusionLogDays, days)
        ),
        .init("feedback.retention.tokenEventDays", unit: "days", .integer(\.feedback.retention.tokenEventDays, days)),
        .init(
            "feedback.retention.disabledSubscriptionDays",
            unit: "days",
            .integer(\.feedback.retention.disabledSubscriptionDays, days)
        ),
    ]
}
