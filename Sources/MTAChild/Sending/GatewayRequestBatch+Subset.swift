import Gateways
import PushCore

extension GatewayRequestBatch {
    /// Some of the messages again, as a batch of their own.
    func subset(_ indexes: [Int32], id: Int64) -> GatewayRequestBatch {
        var tokens = ByteColumn()
        var bodies = ByteColumn()
        var collapseIDs: ByteColumn? = self.collapseIDs == nil ? nil : ByteColumn()
        for index in indexes {
            tokens.append(self.tokens[Int(index)])
            bodies.append(self.bodies[Int(index)])
            if let column = self.collapseIDs {
                column.isNull(Int(index)) ? collapseIDs?.appendNull() : collapseIDs?.append(column[Int(index)])
            }
        }
        return GatewayRequestBatch(
            id: id,
            tokens: tokens,
            messageIDs: indexes.map { messageIDs[Int($0)] },
            bodies: bodies,
            attributes: attributes,
            collapseIDs: collapseIDs,
            isUrgent: isUrgent
        )
    }
}
