import PostgresClient
import PushCore

/// Parts that were given back because their push tokens were refused while nothing of them got through.
enum SetAside {
    /// Messages that got through may be so much fewer than those put aside: one device that works among twenty is enough to believe that
    /// the gateway, and not the tokens, is right; a developer's phone among thousands of the other environment is not.
    private static let share = 20
    /// So many parts put aside say that the delivery is at fault, without trying the others.
    private static let mostParts = 20

    /// Whether messages of other parts of the delivery `d` of a part `p` get through. Of a continuous one all messages stand for themselves.
    static let othersPass = """
        (d.kind = 'continuous' OR (SELECT coalesce(sum(o.sent), 0) * \(share) >= \(waiting) AND coalesce(sum(o.sent), 0) > 0
            FROM pushmta_engine.delivery_part o WHERE o.delivery_id = d.id))
        """

    private static let waiting = "coalesce(sum(o.size) FILTER (WHERE o.alone AND o.state <> 'done'), 0)"

    /// The delivery of a part if it has nothing else left to try, or has had enough, and next to nothing of it got through.
    static let refusedDeliverySQL = """
        SELECT d.id FROM pushmta_engine.delivery d
        WHERE d.id = (SELECT p.delivery_id FROM pushmta_engine.delivery_part p WHERE p.id = $1)
            AND d.kind = 'batch' AND d.state IN ('preparing', 'in_progress') AND NOT \(othersPass)
            AND (SELECT count(*) FILTER (WHERE o.alone) >= \(mostParts) OR d.state = 'in_progress' AND bool_and(o.alone)
                FROM pushmta_engine.delivery_part o WHERE o.delivery_id = d.id AND o.state <> 'done')
        """
}

extension Store {
    /// The delivery to be held back, if it is that of a part that was put aside and all of it seems to go to tokens that the gateway refuses.
    ///
    /// It is so when its other parts were put aside too, or twenty of them, and next to nothing of it got through.
    public func refusedDelivery(ofPart part: Int64) async throws -> Int64? {
        let result = try await query(SetAside.refusedDeliverySQL, [.int64(part)])
        return result.rowCount > 0 ? try result.int64(0, 0) : nil
    }
}
