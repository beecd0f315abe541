"""Where rows come from: numbers out of arrays, sparse matrices and data frames."""
