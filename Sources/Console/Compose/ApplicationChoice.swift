import Store

/// Which applications a draft may go to: those that can send.
extension Composer {
    /// Whether an application may be chosen. One that was chosen before may stay: it may be repaired before the start.
    func mayChoose(_ name: String, _ composed: ComposedDraft) -> Bool {
        composed.obstacles[name] == nil || composed.draft.applications.contains(name)
    }

    /// Why an application cannot send, for its box; nothing if it can.
    func obstacle(_ row: ApplicationRow, _ composed: ComposedDraft) -> PageValues {
        guard let obstacle = composed.obstacles[row.name] else { return [:] }
        return [
            "isBarred": .flag(!mayChoose(row.name, composed)),
            "obstacle": .group([
                "why": .text(catalogue[Self.words(obstacle)]), "path": .text(ApplicationPage.path("\(row.id)")),
            ]),
        ]
    }

    private static func words(_ obstacle: SendingObstacle) -> Phrase {
        switch obstacle {
        case .noAccount: .obstacleNoAccount
        case .inactiveAccount: .obstacleInactiveAccount
        case .noCredential: .obstacleNoCredential
        case .expiredCredential: .obstacleExpiredCredential
        }
    }
}
