import PushCore
import Store

/// Something that an operator should look at.
struct StatusAlarm: Sendable {
    /// What it is about.
    let subject: String
    /// What is wrong and, where it is known, what to do.
    let text: String

    /// All alarms, hosts first.
    static func all(
        hosts: [HostRow],
        children: [ChildOverview],
        applications: [ApplicationRow],
        health: [ApplicationHealthRow],
        credentials: [CredentialNotice],
        inactive: [InactiveAccount] = [],
        waiting: [WaitingDelivery] = []
    ) -> [StatusAlarm] {
        hosts.flatMap(alarms) + versionAlarm(hosts) + children.compactMap(alarm)
            + health.compactMap { alarm($0, applications) } + credentials.compactMap(alarm) + inactive.map(alarm)
            + waiting.map(alarm)
    }

    /// A target mapping whose view cannot be read.
    static func alarm(ofMapping name: String, _ problem: String) -> StatusAlarm {
        StatusAlarm(
            subject: "target mapping \(name)",
            text: "\(problem) Deliveries that use it wait until it can be read, or until their validity is over."
        )
    }

    /// A delivery that nobody sends, because its account is not active.
    static func alarm(of waiting: InactiveAccount) -> StatusAlarm {
        StatusAlarm(
            subject: "delivery \(waiting.deliveryID)",
            text:
                "its messages wait, as external account \(waiting.account) is not active: pushmta account set \(waiting.account) --enable-active"
        )
    }

    /// A delivery of which something cannot be read.
    static func alarm(of waiting: WaitingDelivery) -> StatusAlarm {
        let what = waiting.messages.map { "\($0) of its messages cannot be loaded" } ?? "it cannot be prepared now"
        return StatusAlarm(
            subject: "delivery \(waiting.deliveryID)",
            text: "\(what), which is tried again each minute until its validity is over: \(waiting.reason)"
        )
    }

    /// A delivery that a child has paused for what the gateway says of it alone; one that somebody paused has no reason.
    static func alarm(ofHeld delivery: DeliveryProgress) -> StatusAlarm? {
        guard delivery.state == .paused, !delivery.stateReason.isEmpty, delivery.parentID == nil else { return nil }
        return StatusAlarm(
            subject: "delivery \(delivery.id)",
            text: "it is paused. \(delivery.stateReason) (pushmta delivery resume \(delivery.id) lets it go on)"
        )
    }

    /// A gateway that takes nothing.
    static func alarm(of trouble: GatewayTroubleRow) -> StatusAlarm {
        StatusAlarm(subject: "application \(trouble.application)", text: trouble.text)
    }

    /// Messages of an application that fail for one and the same reason.
    static func alarm(of failure: MassFailureRow) -> StatusAlarm {
        StatusAlarm(subject: "application \(failure.application)", text: failure.text)
    }

    /// A credential near its end.
    private static func alarm(of credential: CredentialNotice) -> StatusAlarm? {
        guard let left = credential.secondsLeft, ExpiryNotice(secondsLeft: left) != nil else { return nil }
        return StatusAlarm(
            subject: "credential of \(credential.applications.joined(separator: ", "))",
            text:
                "\(credential.kind.text) \(ExpiryNotice.text(secondsLeft: left)): set a new one with pushmta credential set"
        )
    }

    private static func alarms(of host: HostRow) -> [StatusAlarm] {
        let subject = "host \(host.report.name)"
        var alarms: [StatusAlarm] = []
        let silence = "it has said nothing for \(Int(host.beatAgeSeconds)) s"
        switch host.liveness {
        case .late: alarms.append(StatusAlarm(subject: subject, text: silence))
        case .gone:
            alarms.append(
                StatusAlarm(subject: subject, text: "\(silence): look at that host; others take over what it held")
            )
        case .alive, .ended: break
        }
        if !host.report.alarm.isEmpty, host.report.state != .stopped {
            alarms.append(StatusAlarm(subject: subject, text: host.report.alarm))
        }
        return alarms
    }

    private static func versionAlarm(_ hosts: [HostRow]) -> [StatusAlarm] {
        let mixed = hosts.filter(\.isVersionMixed)
        guard !mixed.isEmpty else { return [] }
        let versions = mixed.map { "\($0.report.name) \($0.report.version)" }.joined(separator: ", ")
        return [
            StatusAlarm(
                subject: "versions",
                text: "hosts run different versions (\(versions)): right during an upgrade, to be ended after it"
            )
        ]
    }

    private static func alarm(of child: ChildOverview) -> StatusAlarm? {
        guard child.liveness == .late || child.liveness == .gone else { return nil }
        return StatusAlarm(
            subject: "child \(child.beat.childID)",
            text: "it has said nothing for \(Int(child.beatAgeSeconds)) s"
        )
    }

    private static func alarm(_ row: ApplicationHealthRow, _ applications: [ApplicationRow]) -> StatusAlarm? {
        guard row.state != .closed || !row.reason.isEmpty else { return nil }
        let name = applications.first { $0.id == row.applicationID }?.name ?? String(row.applicationID)
        let kind = row.state == .closed ? "" : "its circuit is open, no message is sent or failed: "
        return StatusAlarm(
            subject: "application \(name)",
            text: kind + row.reason + (row.remedy.isEmpty ? "" : " (\(row.remedy))")
        )
    }
}
