import PushCore

/// What people did, as a list.
struct BehaviourModel {
    struct Deed: Hashable {
        let person: Int64
        let kind: TargetBehaviour.Kind
        let delivery: Int64
        /// How many days ago.
        let age: Int
    }

    /// What filters know of a delivery.
    struct Delivery {
        let label: String
        let category: String
    }

    var deeds: Set<Deed> = []
    var deliveries: [Int64: Delivery] = [:]

    func holds(_ test: TargetBehaviour, _ person: Int64) -> Bool {
        deeds.contains { deed in
            deed.person == person && deed.kind == test.kind && test.days.map { deed.age <= $0 } ?? true
                && isAbout(test.subject, deed.delivery)
        }
    }

    private func isAbout(_ subject: TargetBehaviour.Subject, _ delivery: Int64) -> Bool {
        switch subject {
        case .any: true
        case .delivery(let id): id == delivery
        case .label(let label): deliveries[delivery]?.label == label
        case .category(let category): deliveries[delivery]?.category == category
        }
    }
}
