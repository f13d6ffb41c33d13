extension Array {
    /// The first place at which a condition holds that holds from some place on; the count where there is none. In
    /// logarithmic time.
    func firstInOrder(where holds: (Element) -> Bool) -> Int {
        var low = startIndex
        var high = endIndex
        while low < high {
            let middle = low + (high - low) / 2
            if holds(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
