module histcheck

go 1.19
